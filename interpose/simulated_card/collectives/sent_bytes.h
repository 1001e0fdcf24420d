// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_SENT_BYTES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_SENT_BYTES_H_

#include <cstdint>
#include <string_view>

#include "interpose/simulated_card/collectives/rank_machines.h"

namespace memtrace::card {

// The traffic from one rank to others.
struct SentBytes {
  std::uint64_t within = 0;   // bytes to ranks of its machine
  std::uint64_t network = 0;  // bytes to ranks of other machines
  std::uint64_t sends = 0;    // point-to-point sends
};

// One rank's part in a call of NCCL.
struct RankCall {
  std::string_view name;   // "ncclAllReduce"
  std::uint64_t size = 0;  // bytes that all ranks agree on: what a rank gives to a gather, what it
                           // receives from a reduce-scatter, what each peer gets in an all-to-all
  int rank = 0;            // that makes the call
  int peer = 0;            // the receiver of a send; the root of a call that has one
};

// Returns what the rank sends by the factors of NVIDIA's nccl-tests (doc/PERFORMANCE.md), which are
// those of a ring, or of pairs for what goes from one rank to another. A ring enters and leaves
// each machine once, by another card in each channel, so that each of a machine's ranks is taken to
// send an equal share over the network (docs/design/collectives.md, "Bytes sent").
SentBytes SentBy(const RankCall& call, const RankMachines& machines);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_SENT_BYTES_H_
