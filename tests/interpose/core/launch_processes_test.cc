// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/launch_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace memtrace {
namespace {

// A child, with an environment of its own, that runs a program which waits for its input to end.
class WaitingChild {
 public:
  explicit WaitingChild(const char* variable) {
    std::array<int, 2> input{};
    EXPECT_EQ(pipe(input.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(input[0], STDIN_FILENO);
      close(input[1]);
      const std::array<const char*, 2> arguments = {"cat", nullptr};
      const std::array<const char*, 2> environment = {variable, nullptr};
      execve("/bin/cat", const_cast<char**>(arguments.data()),
             const_cast<char**>(environment.data()));
      _exit(1);
    }
    close(input[0]);
    input_ = input[1];
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() {
    close(input_);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int input_ = 0;
};

TEST(LaunchProcessesTest, ChildIsAWorkerRegardlessOfItsEnvironment) {
  const WaitingChild child("RANK=3");
  EXPECT_EQ(RelationTo(child.pid()), "worker");
}

TEST(LaunchProcessesTest, AncestorIsTheParent) {
  if (getppid() <= 1) GTEST_SKIP() << "no ancestor but the first process";
  EXPECT_EQ(RelationTo(getppid()), "parent");
}

TEST(LaunchProcessesTest, EndedProcessIsAProcess) { EXPECT_EQ(RelationTo(0x3fffffff), "process"); }

TEST(LaunchProcessesTest, LargestProcessComesFirst) {
  EXPECT_EQ(LaunchProcessesText({{0x3ffffffe, 5}, {0x3ffffffd, 7}}),
            "1073741821 7 process;1073741822 5 process");
  EXPECT_EQ(LaunchProcessesText({}), "");
}

}  // namespace
}  // namespace memtrace
