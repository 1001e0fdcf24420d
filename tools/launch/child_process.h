// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_
#define MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/exit_status.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::launch {

// Starts the process and waits for its end. Passes on signals that ask this process to stop, except
// those that a terminal sends to both at once (Ctrl-C). If the plan has a time limit, the program
// and all that it started are killed at the limit. After a signal to stop they have 5 s to end. The
// signals stay blocked afterwards, so that one that comes between two processes stops the second.
// Returns kUnavailable if the process cannot start. Call from a program with one thread.
absl::StatusOr<ExitStatus> RunToEnd(const LaunchPlan& plan);

// The two parts of RunToEnd(). WaitForEnd() is also for a process that another one has started, if
// it is a child of this process and leads its own process group; the plan is the one that it runs.
absl::StatusOr<pid_t> StartProcess(const LaunchPlan& plan);
ExitStatus WaitForEnd(pid_t child, const LaunchPlan& plan);

// The way several processes ended that run together.
struct JointEnd {
  std::vector<ExitStatus> ends;  // by plan
  std::optional<size_t> failed;  // the plan whose process failed first; nothing: none failed
};

// Does the same with several processes at once; their plans have no time limit. When one fails
// that was not asked to stop, the others get SIGTERM and, 5 s later, SIGKILL. Returns kUnavailable,
// and ends those that have started, if one cannot start.
absl::StatusOr<JointEnd> RunTogether(const std::vector<LaunchPlan>& plans);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_
