// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_H_

#include <optional>
#include <vector>

#include "tools/analysis/jobs/comparison.h"
#include "tools/analysis/jobs/imbalance.h"
#include "tools/analysis/jobs/job_shape.h"
#include "tools/analysis/jobs/rank_kinds.h"
#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// The processes of a job, and what their traces say together.
struct Job {
  std::vector<ProcessView> processes;  // arranged: by rank, then by file
  JobShape shape;
  std::vector<RankKind> kinds;  // empty if the processes have no ranks
  std::vector<Comparison> comparisons;
  std::optional<Imbalance> imbalance;
};

// Arranges the processes and compares them.
Job JobOf(std::vector<ProcessView> processes);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_H_
