// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/stop_signals.h"

#include <algorithm>
#include <array>

namespace memtrace::launch {
namespace {

constexpr std::array<int, 6> kPassedOn = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Returns the time until `end`, at least none.
timespec Until(Clock::time_point end) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now());
  const int64_t nanoseconds = std::max<int64_t>(left.count(), 0);
  return {.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
}

}  // namespace

sigset_t WatchedSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (int signal : kPassedOn) sigaddset(&watched, signal);
  sigaddset(&watched, SIGCHLD);
  return watched;
}

const sigset_t& MaskAtStart(const sigset_t& watched) {
  static const sigset_t kMask = [&watched] {
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched, &before);
    return before;
  }();
  return kMask;
}

std::optional<siginfo_t> NextSignal(const sigset_t& watched, std::optional<Clock::time_point> end) {
  siginfo_t signal;
  while (true) {
    const bool is_past = end && *end <= Clock::now();
    if (is_past) return std::nullopt;
    const timespec time = end ? Until(*end) : timespec();
    const int got = end ? sigtimedwait(&watched, &signal, &time) : sigwaitinfo(&watched, &signal);
    if (got >= 0) return signal;  // otherwise interrupted by stop and continue, or too late
  }
}

std::optional<siginfo_t> PendingSignal(const sigset_t& watched) {
  siginfo_t signal;
  const timespec none = {};
  return sigtimedwait(&watched, &signal, &none) >= 0 ? std::optional(signal) : std::nullopt;
}

bool IsForChild(const siginfo_t& signal) {
  const bool from_keyboard = signal.si_signo == SIGINT || signal.si_signo == SIGQUIT;
  return !from_keyboard || signal.si_code == SI_USER || signal.si_code == SI_QUEUE;
}

bool IsStopSignal(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

}  // namespace memtrace::launch
