// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/child_process.h"

#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace memtrace::launch {
namespace {

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

// The child starts with the signal mask that we were started with.
absl::StatusOr<pid_t> Spawn(const LaunchPlan& plan, const sigset_t& mask) {
  std::vector<std::string> arguments = plan.arguments;
  std::vector<std::string> environment;
  environment.reserve(plan.environment.size());
  for (const auto& [name, value] : plan.environment)
    environment.push_back(absl::StrCat(name, "=", value));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t child = 0;
  const int error = posix_spawn(&child, plan.program.c_str(), nullptr, &attributes,
                                Pointers(arguments).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return child;
  return absl::UnavailableError("cannot start " + plan.program + ": " + std::strerror(error));
}

// A terminal's Ctrl-C reaches the whole foreground group, the child included, and comes from the
// kernel; one that a program sent came to us alone.
bool IsForChild(const siginfo_t& signal) {
  const bool from_keyboard = signal.si_signo == SIGINT || signal.si_signo == SIGQUIT;
  return !from_keyboard || signal.si_code == SI_USER || signal.si_code == SI_QUEUE;
}

ExitStatus Decode(int status) {
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

absl::StatusOr<ExitStatus> RunToEnd(const LaunchPlan& plan) {
  const sigset_t watched = WatchedSignals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  absl::StatusOr<pid_t> child = Spawn(plan, before);
  if (!child.ok()) return child.status();
  while (true) {
    siginfo_t signal;
    if (sigwaitinfo(&watched, &signal) < 0) continue;  // interrupted by a stop and continue
    if (signal.si_signo != SIGCHLD) {
      if (IsForChild(signal)) kill(*child, signal.si_signo);
      continue;
    }
    int status = 0;
    if (waitpid(*child, &status, WNOHANG) == *child) return Decode(status);
  }
}

}  // namespace memtrace::launch
