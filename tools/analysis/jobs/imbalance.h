// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_IMBALANCE_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_IMBALANCE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/jobs/job_shape.h"
#include "tools/analysis/jobs/rank_kinds.h"
#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// How unequal the ranks of a job are. Requested bytes at the peaks.
struct Imbalance {
  size_t most = 0;   // the process that holds most
  size_t least = 0;  // the process that holds least
  uint64_t bytes = 0;
  // The mean of the stages of a pipeline; nothing if not every stage is known.
  std::optional<uint64_t> balanced;
};

// Returns nothing if the difference is less than 1 percent, or if a process failed or its trace
// does not reach its end: a peak may then have been to come.
std::optional<Imbalance> ImbalanceOf(const std::vector<ProcessView>& views, const JobShape& shape,
                                     const std::vector<RankKind>& kinds);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_IMBALANCE_H_
