// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_COMMAND_LINE_FIXTURE_H_
#define MEMTRACE_TESTS_TOOLS_COMMAND_LINE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/tools/shell.h"

namespace memtrace {

// Runs the real program as typed at a prompt.
class CommandLineTest : public testing::Test {
 protected:
  // A stand-in for the installed package, for runs that get as far as starting something.
  std::string WithPackage(const std::string& command) {
    std::filesystem::create_directories(shell_.Path("../package/inject"));
    shell_.Write("../package/inject/sitecustomize.py", "");
    return "export MEMTRACE_HOME=$PWD/../package; " + command;
  }
  // Expects one sentence on stderr and nothing on stdout.
  void ExpectRefusal(const std::string& command, int code, const std::string& part) {
    const Outcome outcome = shell_.Run(command);
    EXPECT_EQ(outcome.code, code) << command;
    EXPECT_THAT(outcome.out, testing::IsEmpty()) << command;
    EXPECT_THAT(outcome.err,
                testing::AllOf(testing::StartsWith("memtrace: "), testing::HasSubstr(part)))
        << command;
  }

  Shell shell_;
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_TOOLS_COMMAND_LINE_FIXTURE_H_
