// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_JOB_RANKS_H_
#define MEMTRACE_TOOLS_LAUNCH_JOB_RANKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memtrace::launch {

// The ranks of a job of several machines with `cards` cards each. Only the real ones are started
// (docs/design/virtual-ranks.md).
struct JobRanks {
  int world = 1;
  int cards = 1;
  std::vector<int> real;           // ascending, not empty, each below `world`
  std::vector<int> alike = {};     // for each of these, the ranks it stands for; empty: not known
  std::vector<int> left_out = {};  // ranks of other kinds, for which the host has no memory
  int stages = 1;                  // of a pipeline of rank 0, if the ranks were found
  bool is_auto = false;  // the real ones have to be found, one of each kind; `real` is rank 0

  int MachineOf(int rank) const { return rank / cards; }
  int CardOf(int rank) const { return rank % cards; }
  int Machines() const { return (world + cards - 1) / cards; }
  // True if each rank of the job is one of the real ones or like one of them: these stand for all.
  bool HasEachKind() const;
  // Returns the number of ranks on that machine; the last one may have fewer.
  int RanksOn(int machine) const;

  bool operator==(const JobRanks&) const = default;
};

// Reads `--world` ("512", or "64x8": machines of so many ranks) and `--ranks` ("0,448", "0-3",
// "auto"; empty: rank 0). `cards` are the specifications of `--card`, which were checked. Returns
// kInvalidArgument with a sentence.
absl::StatusOr<JobRanks> ParseJobRanks(const std::string& world, const std::string& ranks,
                                       const std::vector<std::string>& cards);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_JOB_RANKS_H_
