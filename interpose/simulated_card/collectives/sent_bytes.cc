// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/sent_bytes.h"

#include "interpose/simulated_card/collectives/counts.h"

namespace memtrace::card {
namespace {

SentBytes AroundRing(std::uint64_t bytes, const RankCall& call, const RankMachines& machines) {
  const int here = machines.RanksWith(call.rank);
  if (here == machines.ranks()) return {.within = bytes};
  const std::uint64_t network = bytes / Unsigned(here);
  return {.within = bytes - network, .network = network};
}

SentBytes ToEachOther(const RankCall& call, const RankMachines& machines) {
  const int here = machines.RanksWith(call.rank);
  return {.within = call.size * Unsigned(here - 1),
          .network = call.size * Unsigned(machines.ranks() - here)};
}

SentBytes ToPeer(const RankCall& call, const RankMachines& machines) {
  if (call.peer == call.rank) return {};
  if (machines.AreTogether(call.rank, call.peer)) return {.within = call.size};
  return {.network = call.size};
}

}  // namespace

SentBytes SentBy(const RankCall& call, const RankMachines& machines) {
  const std::string_view name = call.name;
  const std::uint64_t others = Unsigned(machines.ranks() - 1);
  const bool is_root = call.rank == call.peer;
  if (others == 0) return {};
  if (name == "ncclAllReduce")
    return AroundRing(2 * others * call.size / (others + 1), call, machines);
  if (name == "ncclAllGather" || name == "ncclReduceScatter")
    return AroundRing(others * call.size, call, machines);
  if (name == "ncclReduce") return is_root ? SentBytes() : AroundRing(call.size, call, machines);
  if (name == "ncclBroadcast") {
    const bool is_last = (call.rank + 1) % machines.ranks() == call.peer;
    return is_last ? SentBytes() : AroundRing(call.size, call, machines);
  }
  if (name == "ncclAlltoAll") return ToEachOther(call, machines);
  if (name == "ncclScatter") return is_root ? ToEachOther(call, machines) : SentBytes();
  if (name == "ncclGather") return ToPeer(call, machines);
  if (name != "ncclSend") return {};
  SentBytes sent = ToPeer(call, machines);
  sent.sends = is_root ? 0 : 1;
  return sent;
}

}  // namespace memtrace::card
