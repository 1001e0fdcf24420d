// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_JOB_PROCESS_H_
#define MEMTRACE_TOOLS_LAUNCH_JOB_PROCESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/job_ranks.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/written_traces.h"

namespace memtrace::launch {

// Plans a process that runs the real ranks of a job together: memtrace run --world. So they share
// one layer over the file systems. Errors are those of PlanRanks.
absl::StatusOr<LaunchPlan> PlanJob(const LaunchRequest& request, const JobRanks& job,
                                   Environment environment);

// Watches for the traces of each real rank, in order of rank. Call before the run.
std::vector<WrittenTraces> WatchTracesOf(const LaunchRequest& request, const JobRanks& job);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_JOB_PROCESS_H_
