// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A result that cannot be written gives exit code 5 and a sentence, for every verb.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/shell.h"

namespace memtrace {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kTrace =
    "info allocator memtrace\n"
    "sample 0 total=1GiB free=900MiB context=100MiB\n"
    "map 0 0x7f0000000000 size=100MiB\n"
    "alloc 0 0x7f0000000000 requested=60MiB stack=f@train.py:1\n";

class UnwrittenResultTest : public testing::Test {
 protected:
  UnwrittenResultTest() { shell_.WriteTrace("run.trace", kTrace); }
  void ExpectUnwritten(const std::string& command) {
    const Outcome outcome = shell_.Run(command);
    EXPECT_EQ(outcome.code, 5) << command << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("memtrace: ")) << command;
    EXPECT_THAT(outcome.err, HasSubstr("written")) << command;
  }

  Shell shell_;
};

TEST_F(UnwrittenResultTest, FullStdoutIsReported) {
  for (const char* words :
       {"report run.trace", "report --json run.trace", "stats run.trace", "tree run.trace",
        "diff run.trace run.trace", "verify run.trace", "verify --json run.trace", "plan run.trace",
        "replay --policy torch-native run.trace", "check run.trace --max 1GiB", "cards", "doctor",
        "completion bash", "man", "--help", "report --help", "help", "help tree", "--version"}) {
    const Outcome outcome = shell_.Run(std::string("memtrace ") + words);
    if (outcome.out.empty()) continue;  // the verb prints nothing for this trace
    ExpectUnwritten(std::string("memtrace ") + words + " >/dev/full");
  }
}

TEST_F(UnwrittenResultTest, ClosedStdoutIsReported) {
  ExpectUnwritten("memtrace report run.trace >&-");
  ExpectUnwritten("memtrace cards >&-");
}

TEST_F(UnwrittenResultTest, UnwritableFileIsReportedAndLeavesNothing) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer writes a file of its own before main()";
#endif
#endif
  for (const char* words : {"report run.trace -o a.html", "diff run.trace run.trace -o a.html",
                            "export --to csv run.trace -o a.csv", "plan run.trace -o a.plan",
                            "export --to perfetto run.trace -o a.perfetto-trace"}) {
    // The output goes through a pipe, because the limit also applies to the files that hold a
    // test's outputs.
    const Outcome outcome =
        shell_.Run(std::string("(ulimit -f 0; memtrace ") + words + " 2>&1; echo code $?) | cat");
    EXPECT_THAT(outcome.out, HasSubstr("cannot write a.")) << words;
    EXPECT_THAT(outcome.out, EndsWith("code 5\n")) << words;
    EXPECT_EQ(shell_.Run("ls").out, "run.trace\n");
  }
}

TEST_F(UnwrittenResultTest, DevicesAndPipesAreWrittenAndNotReplaced) {
  for (const char* words : {"report run.trace -o ", "export --to csv run.trace -o "}) {
    const std::string command = std::string("memtrace ") + words;
    const Outcome full = shell_.Run(command + "/dev/full");
    EXPECT_EQ(full.code, 5) << full.err;
    EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full")) << command;
    EXPECT_EQ(shell_.Run(command + "/dev/null -f").code, 0);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_THAT(shell_.Run(command + "/dev/stdout | wc -c").out, testing::Not("0\n"));
  }
}

TEST_F(UnwrittenResultTest, TraceCannotBeADevice) {
  const Outcome outcome = shell_.Run("memtrace run -f -o /dev/null -- true");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/null is not a regular file"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(UnwrittenResultTest, PartlyReadPipeEndsTheVerbSilently) {
  const Outcome outcome = shell_.Run("memtrace export --to csv run.trace -o - | head -1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

}  // namespace
}  // namespace memtrace
