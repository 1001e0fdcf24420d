// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_RECORDED_PROCESS_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_RECORDED_PROCESS_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace memtrace::command {

// The trace that a running process writes, found by its open files in /proc, without disturbing the
// process.
struct RecordedProcess {
  std::string file;   // path to open it, even in another container or deleted: /proc/PID/fd/N
  std::string trace;  // its name, for people
};

// Finds the process's trace. Errors, each one sentence: kNotFound (no such process, or it has
// ended), kPermissionDenied (another user's), kFailedPrecondition (not recorded; names children
// that are).
absl::StatusOr<RecordedProcess> FindRecordedProcess(pid_t pid);

// True if the process exists.
bool IsRunning(pid_t pid);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_RECORDED_PROCESS_H_
