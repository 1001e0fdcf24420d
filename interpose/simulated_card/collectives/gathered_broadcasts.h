// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_GATHERED_BROADCASTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_GATHERED_BROADCASTS_H_

#include <cstdint>
#include <map>

#include "interpose/simulated_card/collectives/collective_parts.h"
#include "interpose/simulated_card/collectives/communicators.h"

namespace memtrace::card {

// The broadcasts of one group of calls. Where every rank of a communicator is the root of one, they
// are an all-gather: torch gathers tensors of uneven sizes so, and since 2.15 all lists of tensors.
class GatheredBroadcasts {
 public:
  // True for a broadcast. Its root may be virtual.
  static bool IsOne(const CollectiveCall& call);

  // Adds a broadcast; `sent` is what its root sent, or anything if the root is virtual.
  void Add(const CollectiveCall& call, const Part& sent);

  // Returns what stands in for the virtual root of a broadcast that was added: what the nearest
  // real root sent, if all ranks were roots and that has the same size. Else the part is not held.
  Part StandInFor(const CollectiveCall& call) const;

 private:
  struct Sent {
    std::uint64_t size = 0;
    Part part;
  };
  std::map<const Communicator*, std::map<int, Sent>> by_root_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_GATHERED_BROADCASTS_H_
