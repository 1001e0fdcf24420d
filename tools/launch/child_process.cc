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
#include "tools/launch/program_arguments.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(5);  // time for a process to end after a signal to stop

constexpr std::array<int, 6> kPassedOn = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

sigset_t WatchedSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (int signal : kPassedOn) sigaddset(&watched, signal);
  sigaddset(&watched, SIGCHLD);
  return watched;
}

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

// True if the signal must be passed on. A terminal's Ctrl-C comes from the kernel and reaches the
// whole foreground group, the child included; a signal that a program sent reached only this
// process.
bool IsForChild(const siginfo_t& signal) {
  const bool from_keyboard = signal.si_signo == SIGINT || signal.si_signo == SIGQUIT;
  return !from_keyboard || signal.si_code == SI_USER || signal.si_code == SI_QUEUE;
}

ExitStatus Decode(int status) {
  ExitStatus end;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.code = end.signal == 0 ? WEXITSTATUS(status) : 128 + end.signal;
  return end;
}

bool IsStopSignal(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

// Blocks the watched signals, once. Returns the mask that this process was started with.
const sigset_t& MaskAtStart(const sigset_t& watched) {
  static const sigset_t kMask = [&watched] {
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched, &before);
    return before;
  }();
  return kMask;
}

// Waits for a signal, or until `end` if there is a limit. Returns nothing after the limit.
std::optional<siginfo_t> NextSignal(const sigset_t& watched, bool is_limited,
                                    Clock::time_point end) {
  siginfo_t signal;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now());
    if (is_limited && left.count() <= 0) return std::nullopt;
    constexpr int64_t kSecond = 1'000'000'000;
    const timespec time{.tv_sec = left.count() / kSecond, .tv_nsec = left.count() % kSecond};
    const int got =
        is_limited ? sigtimedwait(&watched, &signal, &time) : sigwaitinfo(&watched, &signal);
    if (got >= 0) return signal;  // otherwise interrupted by stop and continue, or too late
  }
}

// Processes that run together.
class JointProcesses {
 public:
  explicit JointProcesses(size_t count) { end_.ends.resize(count); }

  absl::Status Start(const LaunchPlan& plan, const sigset_t& mask) {
    const absl::StatusOr<pid_t> child = Spawn(plan, mask);
    if (!child.ok()) return child.status();
    running_.emplace(*child, started_++);
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
    end_.ends[plan] = Decode(status);
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
  const absl::StatusOr<pid_t> child = StartProcess(plan);
  if (!child.ok()) return child.status();
  return WaitForEnd(*child, plan);
}

absl::StatusOr<pid_t> StartProcess(const LaunchPlan& plan) {
  return Spawn(plan, MaskAtStart(WatchedSignals()));
}

ExitStatus WaitForEnd(pid_t child, const LaunchPlan& plan) {
  const sigset_t watched = WatchedSignals();
  Clock::time_point end = Clock::now() + std::chrono::seconds(plan.seconds);
  const pid_t group = plan.seconds == 0 ? child : -child;
  const pid_t told = plan.passes_on_signals ? child : group;
  int asked_to_stop = 0;
  while (true) {
    const std::optional<siginfo_t> signal = NextSignal(watched, plan.seconds != 0, end);
    int status = 0;
    if (!signal) {
      kill(group, SIGKILL);
      waitpid(child, &status, 0);
      ExitStatus late = Decode(status);
      late.is_late = asked_to_stop == 0;
      late.asked_to_stop = asked_to_stop;
      return late;
    }
    if (signal->si_signo != SIGCHLD) {
      if (plan.seconds != 0 || IsForChild(*signal)) kill(told, signal->si_signo);
      if (IsStopSignal(signal->si_signo)) {
        asked_to_stop = signal->si_signo;
        end = std::min(end, Clock::now() + kPatience);
      }
      continue;
    }
    if (waitpid(child, &status, WNOHANG) != child) continue;
    ExitStatus ended = Decode(status);
    ended.asked_to_stop = asked_to_stop;
    return ended;
  }
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
  bool is_limited = false;
  Clock::time_point end;
  while (processes.AreRunning()) {
    const std::optional<siginfo_t> signal = NextSignal(watched, is_limited, end);
    if (!signal) {
      processes.Send(SIGKILL);
      processes.Reap(/*waits=*/true);
    } else if (signal->si_signo != SIGCHLD) {
      if (IsForChild(*signal)) processes.Send(signal->si_signo);
      if (IsStopSignal(signal->si_signo)) processes.AskedToStop(signal->si_signo);
    } else {
      processes.Reap(/*waits=*/false);
      if (is_limited || !processes.FailedByItself()) continue;
      processes.Send(SIGTERM);
      is_limited = true;
      end = Clock::now() + kPatience;
    }
  }
  return processes.end();
}

}  // namespace memtrace::launch
