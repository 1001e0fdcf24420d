// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_STOP_SIGNALS_H_
#define MEMTRACE_TOOLS_LAUNCH_STOP_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <optional>

// The signals for which a process waits that has started others.
namespace memtrace::launch {

using Clock = std::chrono::steady_clock;

inline constexpr std::chrono::seconds kPatience(5);  // for an end after a signal to stop

// Returns the signals that are passed on, and SIGCHLD.
sigset_t WatchedSignals();

// Blocks the watched signals, once. Returns the mask that this process was started with.
const sigset_t& MaskAtStart(const sigset_t& watched);

// Waits for a signal, or until `end`, if there is one. Returns nothing after that.
std::optional<siginfo_t> NextSignal(const sigset_t& watched, std::optional<Clock::time_point> end);

// Returns a signal that has come and was not waited for; nothing if there is none.
std::optional<siginfo_t> PendingSignal(const sigset_t& watched);

// True if the signal must be passed on. A terminal's Ctrl-C comes from the kernel and reaches the
// whole foreground group, the child included; a signal that a program sent reached only this
// process.
bool IsForChild(const siginfo_t& signal);

// True if the signal asks a process to stop.
bool IsStopSignal(int signal);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_STOP_SIGNALS_H_
