// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RANK_MACHINES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RANK_MACHINES_H_

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace::card {

// Where a rank is among the ranks of its communicator.
struct RankPlace {
  int ranks = 1;       // in all machines
  int machines = 1;    // that have ranks of the communicator
  int ranks_here = 1;  // in this rank's machine
  int place = 0;       // of this rank among those, from 0
};

// Returns the place of a rank in a communicator that lies in one machine.
RankPlace PlaceInOneMachine(int ranks, int rank);

// The machine of each rank of a communicator; machines have the numbers of the job. Ranks are those
// of the communicator, from 0.
class RankMachines {
 public:
  // `machines` has one number for each rank.
  explicit RankMachines(std::vector<int> machines) : machines_(std::move(machines)) {}
  static RankMachines InOneMachine(int ranks);

  int ranks() const { return static_cast<int>(machines_.size()); }
  const std::vector<int>& machines() const { return machines_; }
  bool AreTogether(int a, int b) const { return At(a) == At(b); }
  // Returns the number of ranks in a rank's machine, including that rank.
  int RanksWith(int rank) const;
  RankPlace PlaceOf(int rank) const;

 private:
  int At(int rank) const { return machines_[static_cast<std::size_t>(rank)]; }

  std::vector<int> machines_;
};

// Reads "0x8,1x8": eight ranks in machine 0, then eight in machine 1. Returns nothing for any other
// text, and if it has more or fewer than `ranks` ranks.
std::optional<RankMachines> ParseRankMachines(std::string_view text, int ranks);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RANK_MACHINES_H_
