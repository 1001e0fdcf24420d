// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/side_by_side.h"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "tools/launch/child_process.h"

namespace memtrace::launch {
namespace {

LaunchPlan Shell(const std::string& script, uint64_t seconds = 60) {
  LaunchPlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {"sh", "-c", script};
  plan.environment = CurrentEnvironment();
  plan.seconds = seconds;
  return plan;
}

pid_t Start(SideBySide& processes, const LaunchPlan& plan) {
  const pid_t process = *StartProcess(plan);
  processes.Add(process, plan);
  return process;
}

TEST(SideBySideTest, ProcessesAreToldInTheOrderInWhichTheyEnd) {
  SideBySide processes;
  const pid_t slow = Start(processes, Shell("sleep 0.5; exit 3"));
  const pid_t fast = Start(processes, Shell("exit 4"));
  const auto first = processes.Wait();
  EXPECT_EQ(first->process, fast);
  EXPECT_EQ(first->status.code, 4);
  EXPECT_EQ(processes.size(), 1U);
  const auto second = processes.Wait();
  EXPECT_EQ(second->process, slow);
  EXPECT_EQ(second->status.code, 3);
  EXPECT_EQ(processes.size(), 0U);
}

TEST(SideBySideTest, OnlyTheProcessPastItsOwnLimitIsLate) {
  SideBySide processes;
  const pid_t late = Start(processes, Shell("sleep 100", 1));
  const pid_t other = Start(processes, Shell("sleep 2; exit 0", 60));
  const auto first = processes.Wait();
  EXPECT_EQ(first->process, late);
  EXPECT_TRUE(first->status.is_late);
  const auto second = processes.Wait();
  EXPECT_EQ(second->process, other);
  EXPECT_FALSE(second->status.is_late);
  EXPECT_EQ(second->status.code, 0);
}

TEST(SideBySideTest, SignalToStopReachesAll) {
  SideBySide processes;
  Start(processes, Shell("exec sleep 100"));
  Start(processes, Shell("exec sleep 100"));
  kill(getpid(), SIGTERM);  // it is blocked, and so waits for Wait()
  for (int i = 0; i < 2; ++i) {
    const auto ended = processes.Wait();
    EXPECT_EQ(ended->status.signal, SIGTERM);
    EXPECT_EQ(ended->status.asked_to_stop, SIGTERM);
    EXPECT_FALSE(ended->status.is_late);
  }
}

TEST(SideBySideTest, ProcessStartedAfterASignalToStopWasNotAsked) {
  SideBySide processes;
  Start(processes, Shell("exec sleep 100"));
  kill(getpid(), SIGTERM);
  EXPECT_EQ(processes.Wait()->status.asked_to_stop, SIGTERM);
  Start(processes, Shell("exit 0"));
  EXPECT_EQ(processes.Wait()->status.asked_to_stop, 0);
}

TEST(SideBySideTest, SignalThatCameBeforeWaitingCountsForAProcessThatHasEnded) {
  SideBySide processes;
  const pid_t process = Start(processes, Shell("exit 0"));
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT), 0);
  kill(getpid(), SIGTERM);
  const auto end = processes.Wait();
  EXPECT_EQ(end->status.code, 0);
  EXPECT_EQ(end->status.asked_to_stop, SIGTERM);
}

TEST(SideBySideTest, WaitingHasALimitOfItsOwn) {
  SideBySide processes;
  Start(processes, Shell("exec sleep 100"));
  EXPECT_FALSE(processes.Wait(std::chrono::milliseconds(20)).has_value());
  EXPECT_EQ(processes.size(), 1U);
}

TEST(SideBySideTest, KilledProcessEndsWithAllThatItStarted) {
  SideBySide processes;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t process = Start(processes, Shell("sleep 100 & sleep 100"));  // both have the pipe
  processes.Kill(process);
  EXPECT_EQ(processes.size(), 0U);
  close(pipe_ends[1]);
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 0);  // nobody holds its other end any more
  close(pipe_ends[0]);
}

TEST(SideBySideTest, MemoryThatAProcessHeldIsTold) {
  SideBySide processes;
  Start(processes, Shell("exit 0"));
  const uint64_t bytes = processes.Wait()->status.host_bytes;
  EXPECT_GT(bytes, 100U << 10);
  EXPECT_LT(bytes, 1U << 30);
}

}  // namespace
}  // namespace memtrace::launch
