// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_
#define MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_

#include "absl/status/statusor.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::launch {

// How a process ended, as a shell says it: its exit status, or 128 + n for signal n.
struct ExitStatus {
  int code = 0;
  int signal = 0;         // 0 if it ended by itself
  bool is_late = false;   // it was ended at the plan's limit
  int asked_to_stop = 0;  // the signal by which we were asked to stop meanwhile; 0: none
};

// Starts the process and waits for its end. Signals that ask this process to stop are passed on;
// those a terminal sends to both at once (Ctrl-C) are not sent twice. Under a plan with a limit of
// time what does not end within 5 s of that is ended. They stay blocked afterwards: one that comes
// between two processes stops the second. kUnavailable if it cannot start. Call from a program with
// one thread.
absl::StatusOr<ExitStatus> RunToEnd(const LaunchPlan& plan);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_CHILD_PROCESS_H_
