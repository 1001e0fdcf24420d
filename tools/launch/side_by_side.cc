// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/side_by_side.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace memtrace::launch {
namespace {

constexpr uint64_t kKiB = 1024;  // the unit of ru_maxrss

}  // namespace

void SideBySide::Add(pid_t process, const LaunchPlan& plan) {
  running_.push_back({.process = process,
                      .is_limited = plan.seconds != 0,
                      .passes_on_signals = plan.passes_on_signals,
                      .end = Clock::now() + std::chrono::seconds(plan.seconds)});
}

std::optional<SideBySide::End> SideBySide::Wait(std::optional<Clock::duration> most) {
  const sigset_t watched = WatchedSignals();
  const std::optional<Clock::time_point> until =
      most ? std::optional(Clock::now() + *most) : std::nullopt;
  // A signal to stop is also for those that have ended since.
  while (const std::optional<siginfo_t> signal = PendingSignal(watched))
    if (signal->si_signo != SIGCHLD) PassOn(*signal);
  while (true) {
    if (std::optional<End> ended = TakeEnded()) return ended;
    if (std::optional<End> late = TakeLate()) return late;
    if (until && *until <= Clock::now()) return std::nullopt;
    std::optional<Clock::time_point> next = FirstLimit();
    if (until && (!next || *until < *next)) next = until;
    const std::optional<siginfo_t> signal = NextSignal(watched, next);
    if (signal && signal->si_signo != SIGCHLD) PassOn(*signal);
  }
}

void SideBySide::Kill(pid_t process) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [process](const Running& of) { return of.process == process; });
  if (found == running_.end()) return;
  kill(found->is_limited ? -process : process, SIGKILL);
  Take(found, 0);
}

// Returns one that has ended by itself or by a signal of another's.
std::optional<SideBySide::End> SideBySide::TakeEnded() {
  for (auto running = running_.begin(); running != running_.end(); ++running) {
    const End end = Take(running, WNOHANG);
    if (end.process >= 0) return end;
  }
  return std::nullopt;
}

// Ends one that is past its limit.
std::optional<SideBySide::End> SideBySide::TakeLate() {
  const auto late = std::find_if(running_.begin(), running_.end(), [](const Running& of) {
    return of.is_limited && of.end <= Clock::now();
  });
  if (late == running_.end()) return std::nullopt;
  kill(-late->process, SIGKILL);
  End end = Take(late, 0);
  end.status.is_late = end.status.asked_to_stop == 0;
  return end;
}

// Waits for the process as `options` say, and removes it. With WNOHANG, does nothing if it has not
// ended.
SideBySide::End SideBySide::Take(std::vector<Running>::iterator running, int options) {
  int status = 0;
  rusage use = {};
  const bool has_ended = wait4(running->process, &status, options, &use) == running->process;
  if (!has_ended && options == WNOHANG) return {};
  End end{.process = running->process, .status = ExitStatusOf(status)};
  end.status.asked_to_stop = running->asked_to_stop;
  end.status.host_bytes = static_cast<uint64_t>(use.ru_maxrss) * kKiB;
  running_.erase(running);
  return end;
}

// After a signal to stop the processes have some time to end.
void SideBySide::PassOn(const siginfo_t& signal) {
  for (Running& running : running_) {
    const bool is_told = running.is_limited || IsForChild(signal);
    const bool is_group = running.is_limited && !running.passes_on_signals;
    if (is_told) kill(is_group ? -running.process : running.process, signal.si_signo);
    if (!IsStopSignal(signal.si_signo)) continue;
    running.asked_to_stop = signal.si_signo;
    running.end = std::min(running.end, Clock::now() + kPatience);
  }
}

std::optional<Clock::time_point> SideBySide::FirstLimit() const {
  std::optional<Clock::time_point> first;
  for (const Running& running : running_)
    if (running.is_limited && (!first || running.end < *first)) first = running.end;
  return first;
}

}  // namespace memtrace::launch
