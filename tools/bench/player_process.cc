// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/player_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/launch/program_arguments.h"

namespace memtrace::bench {
namespace {

// Returns the process, or the error of the call that failed.
absl::StatusOr<pid_t> Spawn(const launch::LaunchPlan& plan, int input, int output) {
  launch::ProgramArguments arguments(plan.arguments, plan.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t process = 0;
  const int error = posix_spawn(&process, plan.program.c_str(), &actions, nullptr, arguments.argv(),
                                arguments.envp());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return process;
  return absl::UnavailableError(
      absl::StrCat("cannot start ", plan.program, ": ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PlayerProcess>> PlayerProcess::Start(
    const launch::LaunchPlan& plan) {
  std::array<int, 2> to_child{};
  std::array<int, 2> to_us{};
  if (pipe2(to_child.data(), O_CLOEXEC) != 0 || pipe2(to_us.data(), O_CLOEXEC) != 0)
    return absl::UnavailableError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  absl::StatusOr<pid_t> process = Spawn(plan, to_child[0], to_us[1]);
  close(to_child[0]);
  close(to_us[1]);
  if (process.ok()) return std::make_unique<PlayerProcess>(*process, to_child[1], to_us[0]);
  close(to_child[1]);
  close(to_us[0]);
  return process.status();
}

PlayerProcess::PlayerProcess(pid_t process, int input, int output)
    : process_(process), input_(fdopen(input, "w")), output_(fdopen(output, "r")) {
  signal(SIGPIPE, SIG_IGN);  // a process that has ended is an error of Ask
}

PlayerProcess::~PlayerProcess() {
  input_.reset();
  output_.reset();
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

absl::StatusOr<std::string> PlayerProcess::Read() {
  char* line = nullptr;
  size_t size = 0;
  const ssize_t length = getline(&line, &size, output_.get());
  std::string text = length > 0 ? std::string(line, static_cast<size_t>(length)) : "";
  std::free(line);
  if (text.ends_with('\n')) {
    text.pop_back();
    return text;
  }
  return absl::UnavailableError("the process ended");
}

absl::StatusOr<std::string> PlayerProcess::Ask(const std::string& line) {
  if (std::fputs((line + "\n").c_str(), input_.get()) < 0 || std::fflush(input_.get()) != 0)
    return absl::UnavailableError("the process ended");
  return Read();
}

}  // namespace memtrace::bench
