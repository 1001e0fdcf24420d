// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_BLOCK_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_BLOCK_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "interpose/simulated_card/memory/address_space.h"

namespace memtrace::card {

// The block of a graph's allocation node. It has memory while a launched graph has it allocated
// (GraphMemory). The address stays reserved until the last owner is gone.
struct GraphBlock {
  GraphBlock(Address at, std::uint64_t wanted, int on) : begin(at), bytes(wanted), device(on) {}

  const Address begin;
  const std::uint64_t bytes;  // as requested
  const int device;
  // The place of its free nodes, either in the graph that allocates it or in others.
  std::atomic<bool> is_freed_by_owner = false;
  std::atomic<bool> is_freed_by_another = false;
};
using GraphBlockPointer = std::shared_ptr<GraphBlock>;

// An allocation or free node, in the order in which a launch reaches them.
struct GraphMemoryStep {
  GraphBlockPointer block;
  bool frees = false;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_BLOCK_H_
