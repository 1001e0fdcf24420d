// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/child_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/launch/program_arguments.h"
#include "tools/launch/program_file.h"
#include "tools/launch/side_by_side.h"
#include "tools/launch/stop_signals.h"

namespace memtrace::launch {
namespace {

// Makes stdin empty and sends stdout and stderr to the log.
bool OpenLog(const std::string& log) {
  const int input = open("/dev/null", O_RDONLY);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, S_IRUSR | S_IWUSR);
  const bool is_open = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                       dup2(output, STDERR_FILENO) >= 0;
  for (const int opened : {input, output})
    if (opened > STDERR_FILENO) close(opened);
  return is_open;
}

// Executes the program with the signal mask that this process was started with. Returns only if
// that fails, with a sentence that says why.
std::string Execute(const LaunchPlan& plan, const sigset_t& mask) {
  // A program with a time limit gets a process group, so that everything it started can be ended.
  if (plan.seconds != 0) setpgid(0, 0);
  if (!plan.log.empty() && !OpenLog(plan.log))
    return absl::StrCat("cannot write ", plan.log, ": ", std::strerror(errno));
  Environment environment = plan.environment;
  if (plan.prepare) {
    if (const absl::Status prepared = plan.prepare(environment); !prepared.ok())
      return absl::StrCat("cannot start ", plan.program, ": ", std::string(prepared.message()));
  }
  ProgramArguments arguments(plan.arguments, environment);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(plan.program.c_str(), arguments.argv(), arguments.envp());
  return absl::StrCat("cannot start ", plan.program, ": ", std::strerror(errno),
                      HintForScript(plan.program));
}

// Returns all that comes out of the pipe until its other end is closed.
std::string ReadAll(int pipe_end) {
  std::string text;
  std::array<char, 1024> piece{};
  while (true) {
    const ssize_t length = read(pipe_end, piece.data(), piece.size());
    if (length > 0) text.append(piece.data(), static_cast<size_t>(length));
    if (length == 0 || (length < 0 && errno != EINTR)) return text;
  }
}

// Starts the program. The pipe closes when it is executed; otherwise it carries the reason.
absl::StatusOr<pid_t> Spawn(const LaunchPlan& plan, const sigset_t& mask) {
  constexpr int kNoProgram = 127;
  std::array<int, 2> ends{};
  const bool has_pipe = pipe2(ends.data(), O_CLOEXEC) == 0;
  const pid_t child = has_pipe ? fork() : -1;
  if (child < 0)
    return absl::UnavailableError(
        absl::StrCat("cannot start ", plan.program, ": ", std::strerror(errno)));
  if (child == 0) {
    const std::string why = Execute(plan, mask);
    const bool is_told = write(ends[1], why.data(), why.size()) > 0;
    _exit(is_told ? kNoProgram : kNoProgram - 1);
  }
  close(ends[1]);
  const std::string why = ReadAll(ends[0]);
  close(ends[0]);
  if (why.empty()) return child;
  waitpid(child, nullptr, 0);
  return absl::UnavailableError(why);
}

// Processes that run together.
class JointProcesses {
 public:
  explicit JointProcesses(size_t count) { end_.ends.resize(count); }

  absl::Status Start(const LaunchPlan& plan, const sigset_t& mask) {
    MEMTRACE_ASSIGN_OR_RETURN(const pid_t child, Spawn(plan, mask));
    running_.emplace(child, started_++);
    return absl::OkStatus();
  }

  bool AreRunning() const { return !running_.empty(); }
  // True if one failed that nobody asked to stop; those that were asked end in their own time.
  bool FailedByItself() const { return end_.failed.has_value() && asked_to_stop_ == 0; }
  void AskedToStop(int signal) { asked_to_stop_ = signal; }
  const JointEnd& end() const { return end_; }

  void Send(int signal) const {
    for (const auto& [process, plan] : running_) kill(process, signal);
  }

  // Notes the processes that have ended; waits for all if `waits`.
  void Reap(bool waits) {
    for (auto entry = running_.begin(); entry != running_.end();) {
      int status = 0;
      const auto [process, plan] = *entry;
      const bool has_ended = waitpid(process, &status, waits ? 0 : WNOHANG) == process;
      if (has_ended) Note(plan, status);
      entry = has_ended ? running_.erase(entry) : std::next(entry);
    }
  }

 private:
  void Note(size_t plan, int status) {
    end_.ends[plan] = ExitStatusOf(status);
    end_.ends[plan].asked_to_stop = asked_to_stop_;
    if (end_.ends[plan].code != 0 && !end_.failed) end_.failed = plan;
  }

  std::map<pid_t, size_t> running_;  // process -> its plan
  size_t started_ = 0;
  int asked_to_stop_ = 0;
  JointEnd end_;
};

}  // namespace

absl::StatusOr<ExitStatus> RunToEnd(const LaunchPlan& plan) {
  MEMTRACE_ASSIGN_OR_RETURN(const pid_t child, StartProcess(plan));
  return WaitForEnd(child, plan);
}

absl::StatusOr<pid_t> StartProcess(const LaunchPlan& plan) {
  return Spawn(plan, MaskAtStart(WatchedSignals()));
}

ExitStatus WaitForEnd(pid_t child, const LaunchPlan& plan) {
  SideBySide alone;
  alone.Add(child, plan);
  return alone.Wait()->status;
}

absl::StatusOr<JointEnd> RunTogether(const std::vector<LaunchPlan>& plans) {
  const sigset_t watched = WatchedSignals();
  JointProcesses processes(plans.size());
  for (const LaunchPlan& plan : plans) {
    absl::Status started = processes.Start(plan, MaskAtStart(watched));
    if (started.ok()) continue;
    processes.Send(SIGKILL);
    processes.Reap(/*waits=*/true);
    return started;
  }
  std::optional<Clock::time_point> end;  // of their patience
  while (processes.AreRunning()) {
    const std::optional<siginfo_t> signal = NextSignal(watched, end);
    if (!signal) {
      processes.Send(SIGKILL);
      processes.Reap(/*waits=*/true);
    } else if (signal->si_signo != SIGCHLD) {
      if (IsForChild(*signal)) processes.Send(signal->si_signo);
      if (IsStopSignal(signal->si_signo)) processes.AskedToStop(signal->si_signo);
    } else {
      processes.Reap(/*waits=*/false);
      if (end || !processes.FailedByItself()) continue;
      processes.Send(SIGTERM);
      end = Clock::now() + kPatience;
    }
  }
  return processes.end();
}

}  // namespace memtrace::launch
