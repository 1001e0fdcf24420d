// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_EXIT_STATUS_H_
#define MEMTRACE_TOOLS_LAUNCH_EXIT_STATUS_H_

#include <cstdint>

namespace memtrace::launch {

// The way a process ended, as a shell reports it: its exit status, or 128 + n for signal n.
struct ExitStatus {
  int code = 0;
  int signal = 0;           // 0 if it ended by itself
  bool is_late = false;     // it was ended at the plan's limit
  int asked_to_stop = 0;    // the signal that asked this process to stop meanwhile; 0: none
  uint64_t host_bytes = 0;  // the most host memory that it, or one that it waited for, held
};

// Returns what wait(2) tells by the number.
ExitStatus ExitStatusOf(int wait_status);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_EXIT_STATUS_H_
