// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_RANK_PLANS_H_
#define MEMTRACE_TOOLS_LAUNCH_RANK_PLANS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/job_ranks.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::launch {

// Plans the start of each real rank of a job, in their order: with the variables that torchrun
// sets, a trace of its own, and the cards of its machine. `request.output` is a folder, which is
// made if its name ends with a slash, or a file into whose name the rank is put. Errors as
// PlanLaunch, and kInvalidArgument for a command of torchrun that does not agree with the job.
absl::StatusOr<std::vector<LaunchPlan>> PlanRanks(const LaunchRequest& request, const JobRanks& job,
                                                  const Environment& environment);

// Returns the trace of a rank: FOLDER/rank-7.trace, or run.rank-7.trace for run.trace. Empty if
// `output` is.
std::string OutputOfRank(const std::string& output, int rank);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_RANK_PLANS_H_
