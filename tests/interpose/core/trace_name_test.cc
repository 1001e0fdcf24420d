// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/trace_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace memtrace {
namespace {

class TraceNameTest : public ::testing::Test {
 protected:
  void SetUp() override { unsetenv("MEMTRACE_OUTPUT"); }

  static std::string NameFor(const std::string& script) {
    return ChooseTraceName({{"script", script}});
  }
  const std::string end_ = "." + std::to_string(getpid()) + ".trace";
};

TEST_F(TraceNameTest, ScriptAndProcessNameTheFile) {
  EXPECT_EQ(NameFor("train.py"), "memtrace-train" + end_);
  EXPECT_EQ(ChooseTraceName({}), "memtrace-program" + end_);
}

TEST_F(TraceNameTest, CharactersInvalidInFileNamesAreReplaced) {
  EXPECT_EQ(NameFor("-c"), "memtrace--c" + end_);
  EXPECT_EQ(NameFor("my script/ä.py"), "memtrace-my_script___" + end_);
  EXPECT_LE(NameFor(std::string(400, 'x')).size(), 255u);
}

TEST_F(TraceNameTest, ChosenNameIsSharedByAllProcesses) {
  setenv("MEMTRACE_OUTPUT", "/tmp/run.trace", 1);
  EXPECT_EQ(NameFor("train.py"), "/tmp/run.trace");
}

TEST_F(TraceNameTest, OnlyAllowListedEnvironmentIsRecorded) {
  setenv("RANK", "3", 1);
  setenv("SECRET_TOKEN", "hidden", 1);
  const auto facts = ProcessFacts();
  EXPECT_EQ(facts.at("environment.RANK"), "3");
  EXPECT_EQ(facts.at("pid"), std::to_string(getpid()));
  EXPECT_FALSE(facts.contains("environment.SECRET_TOKEN"));
  EXPECT_FALSE(facts.contains("environment.LOCAL_RANK"));
}

}  // namespace
}  // namespace memtrace
