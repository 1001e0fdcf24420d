// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/shell.h"

namespace memtrace {
namespace {

using testing::HasSubstr;

// Errors are those of the real program, so that CLI11's own sentences are those that it has.
TEST(UsageErrorTest, ErrorNamesItsCauseAndTheHelp) {
  const Shell shell;
  const auto expect = [&shell](const std::string& words, const std::string& sentence) {
    const Outcome outcome = shell.Run("memtrace " + words);
    EXPECT_EQ(outcome.code, 2) << words;
    const std::string verb = words.substr(0, words.find(' '));
    EXPECT_EQ(outcome.err,
              "memtrace: " + sentence + "; memtrace " + verb + " --help lists the options\n");
  };
  expect("report", "FILE is required");
  expect("report --jsn a", "there is no option '--jsn' (did you mean '--json'?)");
  expect("report a b", "'b' is one argument too many");
  expect("report --oom", "--oom needs a value");
  expect("report --oom 0 a", "--oom: 0 is not a whole number of at least 1");
  expect("report --oom 1 --at end a", "--at cannot be used together with --oom");
  expect("tree --rows x a", "--rows takes a number from 0 to 1000000, not 'x'");
  expect("run --events soon true", "--events takes one of eager, lazy, not 'soon'");
  expect("top --interval 0 1", "--interval takes a number from 0.1 to 3600, not '0'");
  expect("fit --stub no.py true", "--stub: there is no file no.py");
  expect("fit --stub . true", "--stub takes a file, and . is a folder");
  expect("estimate no", "CONFIG_DIR: there is no folder no");
  expect("diff a b c", "FILE can be given at most 2 times, not 3");
  expect("check --max-peak 7x a", "'7x' is not a size; write for example 512MiB or 70GiB");
  expect("diff --at peak --at peak --at end a", "--at can be given at most twice");
  expect("report --lang xx a", "memtrace has no language 'xx'; --lang takes en, zh-CN");
}

TEST(UsageErrorTest, ErrorSpeaksTheLanguageOfTheUser) {
  const Shell shell;
  const std::string chinese = "未知选项 '--jsn'（是不是 '--json'？）；";
  EXPECT_THAT(shell.Run("memtrace report --lang zh-CN --jsn a").err, HasSubstr(chinese));
  EXPECT_THAT(shell.Run("memtrace report --jsn a --lang zh-CN").err, HasSubstr(chinese));
  EXPECT_THAT(shell.Run("MEMTRACE_LANG=zh-CN memtrace report --jsn a").err, HasSubstr(chinese));
  EXPECT_THAT(shell.Run("memtrace rapport --lang=zh-CN").err, HasSubstr("没有命令 'rapport'"));
  for (const char* words :
       {"report", "report a b", "report --oom", "report --oom 0 a", "report --oom 1 --at end a",
        "report --at noon a", "tree --by room a", "tree --rows x a", "run --events soon true",
        "run --evens soon true", "run", "top --interval 0 1", "fit --stub no.py true",
        "estimate no", "check --max-peak 7x a", "diff --at peak --at peak --at end a", "frob"}) {
    EXPECT_THAT(shell.Run(std::string("MEMTRACE_LANG=zh-CN memtrace ") + words).err,
                HasSubstr("；"))
        << words;
  }
}

}  // namespace
}  // namespace memtrace
