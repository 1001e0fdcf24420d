// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_EXIT_CODE_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_EXIT_CODE_H_

namespace memtrace::command {

// Exit codes, as listed in docs/reference/exit-codes.md. `run` returns the status of its program
// once that has started; before, 126 or 127 as a shell does.
inline constexpr int kDone = 0;
inline constexpr int kLimitExceeded = 1;  // of `check`
inline constexpr int kUsage = 2;
inline constexpr int kUnreadable = 3;   // the input
inline constexpr int kPartial = 4;      // result of a damaged or truncated input
inline constexpr int kEnvironment = 5;  // memtrace's installation, or the system
// `fit`: nothing failed, but a peak was still rising, or not each kind of rank of a job ran;
// `check`: no limit is exceeded, but the trace has too few steps for the growth.
inline constexpr int kNotKnown = 6;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_EXIT_CODE_H_
