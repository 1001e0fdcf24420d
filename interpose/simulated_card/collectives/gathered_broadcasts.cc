// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/gathered_broadcasts.h"

#include <cstddef>
#include <string_view>

#include "interpose/simulated_card/collectives/virtual_ranks.h"

namespace memtrace::card {

bool GatheredBroadcasts::IsOne(const CollectiveCall& call) {
  return call.kind == CollectiveCall::kTogether && std::string_view(call.name) == "ncclBroadcast";
}

void GatheredBroadcasts::Add(const CollectiveCall& call, const Part& sent) {
  by_root_[call.communicator.get()][call.root] = {.size = call.size, .part = sent};
}

Part GatheredBroadcasts::StandInFor(const CollectiveCall& call) const {
  const auto found = by_root_.find(call.communicator.get());
  if (found == by_root_.end()) return {};
  const std::map<int, Sent>& roots = found->second;
  if (roots.size() != static_cast<std::size_t>(call.communicator->size)) return {};
  const Sent& nearest = roots.at(call.communicator->real.NearestTo(call.root));
  if (nearest.size != call.size) return {};
  Part part = nearest.part;
  Assume(&part);
  return part;
}

}  // namespace memtrace::card
