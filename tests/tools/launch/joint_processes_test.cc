// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tools/launch/child_process.h"

namespace memtrace::launch {
namespace {

LaunchPlan Shell(const std::string& script) {
  LaunchPlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {"sh", "-c", script};
  plan.environment = CurrentEnvironment();
  return plan;
}

TEST(JointProcessesTest, AllAreWaitedFor) {
  const auto end = RunTogether({Shell("exit 0"), Shell("sleep 0.3"), Shell("true")});
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->failed.has_value());
  for (const ExitStatus& one : end->ends) EXPECT_EQ(one.code, 0);
}

TEST(JointProcessesTest, FirstFailureEndsTheOthers) {
  const auto end = RunTogether({Shell("exec sleep 100"), Shell("exit 7")});
  ASSERT_TRUE(end.ok()) << end.status();
  ASSERT_EQ(end->failed, 1u);
  EXPECT_EQ(end->ends[1].code, 7);
  EXPECT_EQ(end->ends[0].signal, SIGTERM);
}

TEST(JointProcessesTest, ProcessThatIgnoresTheSignalIsKilled) {
  const auto end =
      RunTogether({Shell("trap '' TERM; while :; do sleep 0.1; done"), Shell("sleep 0.5; exit 3")});
  ASSERT_TRUE(end.ok()) << end.status();
  ASSERT_EQ(end->failed, 1u);
  EXPECT_EQ(end->ends[0].signal, SIGKILL);
}

TEST(JointProcessesTest, ProcessThatCannotStartEndsThoseThatHave) {
  LaunchPlan missing = Shell("");
  missing.program = "/nowhere/program";
  const auto end = RunTogether({Shell("exec sleep 100"), missing});
  EXPECT_EQ(end.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace memtrace::launch
