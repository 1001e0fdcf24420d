// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/rank_machines.h"

#include <algorithm>
#include <set>

#include "interpose/simulated_card/collectives/number_text.h"

namespace memtrace::card {

RankPlace PlaceInOneMachine(int ranks, int rank) {
  return {.ranks = ranks, .machines = 1, .ranks_here = ranks, .place = rank};
}

RankMachines RankMachines::InOneMachine(int ranks) {
  return RankMachines(std::vector<int>(static_cast<std::size_t>(ranks), 0));
}

int RankMachines::RanksWith(int rank) const {
  return static_cast<int>(std::count(machines_.begin(), machines_.end(), At(rank)));
}

RankPlace RankMachines::PlaceOf(int rank) const {
  const std::set<int> machines(machines_.begin(), machines_.end());
  const auto before = std::count(machines_.begin(), machines_.begin() + rank, At(rank));
  return {.ranks = ranks(),
          .machines = static_cast<int>(machines.size()),
          .ranks_here = RanksWith(rank),
          .place = static_cast<int>(before)};
}

std::optional<RankMachines> ParseRankMachines(std::string_view text, int ranks) {
  std::vector<int> machines;
  while (true) {
    const auto machine = TakeNumber(&text);
    if (!machine || text.empty() || text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
    const auto count = TakeNumber(&text);
    const auto left = static_cast<std::size_t>(ranks) - machines.size();
    if (!count || *count == 0 || static_cast<std::size_t>(*count) > left) return std::nullopt;
    machines.insert(machines.end(), static_cast<std::size_t>(*count), *machine);
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
  if (static_cast<int>(machines.size()) != ranks) return std::nullopt;
  return RankMachines(std::move(machines));
}

}  // namespace memtrace::card
