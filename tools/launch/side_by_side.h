// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_SIDE_BY_SIDE_H_
#define MEMTRACE_TOOLS_LAUNCH_SIDE_BY_SIDE_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

#include "tools/launch/exit_status.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/stop_signals.h"

namespace memtrace::launch {

// Processes that run side by side and end one by one, each with its own time limit. Signals that
// ask this process to stop are passed on to all, as RunToEnd() does.
//
// Thread rule: one thread, in a program that has no other.
class SideBySide {
 public:
  struct End {
    pid_t process = -1;
    ExitStatus status;
  };

  // Adds a child of this process, which runs by `plan`. Its time limit begins now. If it has one,
  // it leads a process group.
  void Add(pid_t process, const LaunchPlan& plan);

  // Waits until one of them has ended, and for no longer than `most`, if that is given. Returns
  // nothing after that. Requires that there is one.
  std::optional<End> Wait(std::optional<Clock::duration> most = std::nullopt);

  // Ends the process; if it has a time limit, also all that it started.
  void Kill(pid_t process);

  size_t size() const { return running_.size(); }

 private:
  struct Running {
    pid_t process = -1;
    bool is_limited = false;
    bool passes_on_signals = false;  // it tells those that it started
    Clock::time_point end;           // its limit, if it has one
    int asked_to_stop = 0;           // the signal that was passed on to it
  };

  std::optional<End> TakeEnded();
  std::optional<End> TakeLate();
  End Take(std::vector<Running>::iterator running, int options);
  void PassOn(const siginfo_t& signal);
  std::optional<Clock::time_point> FirstLimit() const;

  std::vector<Running> running_;
};

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_SIDE_BY_SIDE_H_
