// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(5);  // with what was asked to stop

constexpr std::array<int, 6> kPassedOn = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

sigset_t WatchedSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (int signal : kPassedOn) sigaddset(&watched, signal);
  sigaddset(&watched, SIGCHLD);
  return watched;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a child starts with beside its words.
class Beginning {
 public:
  // `mask`: of signals.
  Beginning(const LaunchPlan& plan, const sigset_t& mask) {
    posix_spawnattr_init(&attributes_);
    short flags = POSIX_SPAWN_SETSIGMASK;
    // With a limit it has a group of its own, so that all of it can be ended.
    if (plan.seconds != 0) flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_, flags);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawn_file_actions_init(&files_);
    if (plan.log.empty()) return;
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, plan.log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;
  ~Beginning() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* files() const { return &files_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t files_{};
};

// The child starts with the signal mask that we were started with.
absl::StatusOr<pid_t> Spawn(const LaunchPlan& plan, const sigset_t& mask) {
  std::vector<std::string> arguments = plan.arguments;
  std::vector<std::string> environment;
  environment.reserve(plan.environment.size());
  for (const auto& [name, value] : plan.environment)
    environment.push_back(absl::StrCat(name, "=", value));
  const Beginning beginning(plan, mask);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, plan.program.c_str(), beginning.files(), beginning.attributes(),
                  Pointers(arguments).data(), Pointers(environment).data());
  if (error == 0) return child;
  return absl::UnavailableError(absl::StrCat("cannot start ", plan.program, ": ",
                                             std::strerror(error), HintForScript(plan.program)));
}

// A terminal's Ctrl-C reaches the whole foreground group, the child included, and comes from the
// kernel; one that a program sent came to us alone.
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

bool AsksToStop(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

// Blocks what is watched, once; gives the mask that this process was started with.
const sigset_t& MaskAtStart(const sigset_t& watched) {
  static const sigset_t kMask = [&watched] {
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched, &before);
    return before;
  }();
  return kMask;
}

// Waits for a signal, or until `end` if there is a limit. Nothing after that.
std::optional<siginfo_t> NextSignal(const sigset_t& watched, const LaunchPlan& plan,
                                    Clock::time_point end) {
  siginfo_t signal;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now());
    if (plan.seconds != 0 && left.count() <= 0) return std::nullopt;
    constexpr int64_t kSecond = 1'000'000'000;
    const timespec time{.tv_sec = left.count() / kSecond, .tv_nsec = left.count() % kSecond};
    const int got =
        plan.seconds == 0 ? sigwaitinfo(&watched, &signal) : sigtimedwait(&watched, &signal, &time);
    if (got >= 0) return signal;  // else interrupted by a stop and continue, or too late
  }
}

}  // namespace

absl::StatusOr<ExitStatus> RunToEnd(const LaunchPlan& plan) {
  const sigset_t watched = WatchedSignals();
  absl::StatusOr<pid_t> child = Spawn(plan, MaskAtStart(watched));
  if (!child.ok()) return child.status();
  Clock::time_point end = Clock::now() + std::chrono::seconds(plan.seconds);
  const pid_t group = plan.seconds == 0 ? *child : -*child;
  int asked_to_stop = 0;
  while (true) {
    const std::optional<siginfo_t> signal = NextSignal(watched, plan, end);
    int status = 0;
    if (!signal) {
      kill(group, SIGKILL);
      waitpid(*child, &status, 0);
      ExitStatus late = Decode(status);
      late.is_late = asked_to_stop == 0;
      late.asked_to_stop = asked_to_stop;
      return late;
    }
    if (signal->si_signo != SIGCHLD) {
      if (plan.seconds != 0 || IsForChild(*signal)) kill(group, signal->si_signo);
      if (AsksToStop(signal->si_signo)) {
        asked_to_stop = signal->si_signo;
        end = std::min(end, Clock::now() + kPatience);
      }
      continue;
    }
    if (waitpid(*child, &status, WNOHANG) != *child) continue;
    ExitStatus ended = Decode(status);
    ended.asked_to_stop = asked_to_stop;
    return ended;
  }
}

}  // namespace memtrace::launch
