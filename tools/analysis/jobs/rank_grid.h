// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_GRID_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_GRID_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/jobs/job.h"

namespace memtrace::analysis {

// All ranks of a job as a table: a row for each place in one dimension, a column for each
// combination of places in the others.
struct RankGrid {
  uint64_t world = 0;
  JobDimension rows;
  std::vector<JobDimension> columns;  // largest stride first; at least one
  // The rows are machines and the columns their cards: the dimensions are not known.
  bool by_machine = false;
  // By rank: the kind that it belongs to, or that stands for it; -1: not known.
  std::vector<int32_t> kinds;
  // By rank: the process, an index of Job::processes; -1: there is no readable trace of it.
  std::vector<int32_t> processes;

  uint64_t column_count() const;
  // Returns the rank of a cell; nothing behind the last rank of the last machine.
  std::optional<uint64_t> RankAt(uint64_t row, uint64_t column) const;
};

// Returns nothing if the number of ranks is not known or 1, or if no process has a rank. The rows
// are the largest dimension in which the kinds differ; without one, the largest.
std::optional<RankGrid> GridOf(const Job& job);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_GRID_H_
