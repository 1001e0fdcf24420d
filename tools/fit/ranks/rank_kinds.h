// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_RANKS_RANK_KINDS_H_
#define MEMTRACE_TOOLS_FIT_RANKS_RANK_KINDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::fit {

// A rank that stands for all ranks of a job that are like it.
struct RankKind {
  int rank = 0;
  int alike = 1;  // ranks that it stands for, itself included
};

// The result of the run of rank 0 (docs/design/virtual-ranks.md, "Which ranks are real").
struct RankKinds {
  std::vector<RankKind> kinds;  // the most important first
  int stages = 1;               // of its pipeline
  bool has_groups = false;      // false: it made no process group, so nothing tells ranks apart
  uint64_t host_bytes = 0;      // the most host memory that its process took
};

// Reads the file that rank 0 wrote (interpose/python/memtrace/_virtual_ranks/scout.py). Returns
// kNotFound if there is none, kDataLoss if it is not whole.
absl::StatusOr<RankKinds> ReadRankKinds(const std::string& file);

// Returns the host memory that a rank is expected to take, in bytes.
uint64_t HostBytesOfRank(const RankKinds& found);

// Returns the job with one rank of each kind, as many as `host_bytes` carry; at least one. They do
// not stand for all ranks of the job if rank 0 made no groups, or if these are not those of a grid.
launch::JobRanks WithRanks(launch::JobRanks job, const RankKinds& found, uint64_t host_bytes);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_RANKS_RANK_KINDS_H_
