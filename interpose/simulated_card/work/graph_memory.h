// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/card.h"
#include "interpose/simulated_card/memory/memory_pools.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/graph_block.h"

namespace memtrace::card {

// The memory of graphs' allocation nodes, on all cards. Rules: cuda.h, cuGraphAddMemAllocNode; the
// programming guide, "Graph Memory Nodes".
//
// A block has an address as long as a node or an executable graph refers to it, and memory from its
// node's run until it is freed. A card keeps the memory of its graphs for the next launch until it
// is trimmed. How a driver packs blocks into it is assumed: without gaps, in steps of 512 bytes,
// and in granules of 2 MiB altogether.
//
// Safe from any thread; lock order: machine.h.
class GraphMemory {
 public:
  // Both arguments must outlive this and every block.
  GraphMemory(AddressSpace& space, Cards& cards);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  // Reserves an address for a new allocation node. kInvalidValue for no bytes or a device that does
  // not exist.
  Result Reserve(int device, std::uint64_t bytes, GraphBlockPointer* block);
  // Returns the block that begins there; null if it is not a block of a graph.
  GraphBlockPointer Find(Address begin) const;

  // Prepares the launch of a graph with these steps: charges the card for the most that it has at a
  // time. With `frees_first`, memory that its nodes allocated in an earlier launch is freed before.
  // kInvalidValue if a block would be allocated twice, or freed without being allocated;
  // kOutOfMemory. A failure changes nothing.
  Result Prepare(std::span<const GraphMemoryStep> steps, bool frees_first);
  // Called when the nodes run.
  Result Allocate(const GraphBlockPointer& block);
  Result Free(const GraphBlockPointer& block);
  // Frees without a node. kInvalidValue for a block that its own graph frees, and for anything that
  // is not allocated.
  Result FreeOutside(Address begin, GraphBlockPointer* freed);

  // Gives back memory that belongs to no block. REQUIRES (also below): device exists.
  void Trim(int device);
  PoolFigures Figures(int device) const;
  void ResetHighMarks(int device, bool reserved, bool used);

 private:
  class Balance;

  void Forget(const GraphBlock& block);
  PoolFigures& At(int device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return figures_[static_cast<std::size_t>(device)];
  }
  Result Charge(int device, std::uint64_t peak) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result AllocateLocked(const GraphBlockPointer& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // REQUIRES: the caller has a reference of its own.
  Result FreeLocked(const GraphBlockPointer& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  AddressSpace& space_;
  Cards& cards_;
  mutable Mutex index_mutex_;  // taken after mutex_
  std::map<Address, std::weak_ptr<GraphBlock>> blocks_ ABSL_GUARDED_BY(index_mutex_);
  mutable Mutex mutex_;
  std::vector<PoolFigures> figures_ ABSL_GUARDED_BY(mutex_);  // one for each device
  // The nodes and graphs of these blocks may be gone.
  std::unordered_set<GraphBlockPointer> allocated_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_MEMORY_H_
