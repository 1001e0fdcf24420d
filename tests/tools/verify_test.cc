// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// `memtrace verify`: whole, damaged, inconsistent and unreadable files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "nlohmann/json.hpp"
#include "tests/tools/shell.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRun =
    "map 0 0x7f0000000000 size=20MiB\n"
    "alloc 0 0x7f0000000000 requested=4MiB stack=f@a.py:1 owner=policy\n"
    "alloc 0 0x7f0000400000 requested=6MiB\n"
    "free 0 0x7f0000000000\n";

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() { shell_.WriteTrace("run.trace", kRun); }
  Outcome Verify(const std::string& words) const { return shell_.Run("memtrace verify " + words); }
  json OnlyFile(const std::string& words) const {
    const json all = json::parse(Verify("--json " + words).out);
    EXPECT_EQ(all["schema"], "memtrace.verify/1");
    EXPECT_EQ(all["files"].size(), 1U);
    return all["files"][0];
  }
  // Flips the last byte of the last block, which holds events.
  void FlipLastByte(const std::string& name) const {
    std::string bytes = ReadFile(shell_.Path(name));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    shell_.Write(name, bytes);
  }

  Shell shell_;
};

TEST_F(VerifyTest, WholeTraceGivesOneLineAndStatus0) {
  const Outcome outcome = Verify("run.trace");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("run.trace: whole. The file has 5 events in "));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(OnlyFile("run.trace")["state"], "whole");
}

TEST_F(VerifyTest, DamagedBlockIsNamedWithItsOffsetAndStatus4) {
  FlipLastByte("run.trace");
  const Outcome outcome = Verify("run.trace");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.out, HasSubstr("DAMAGED: 1 damaged block is left out. The first fault is at "
                                     "byte 8,192. 0 events can be read."));
  const json file = OnlyFile("run.trace");
  EXPECT_EQ(file["state"], "damaged");
  EXPECT_EQ(file["first_bad_offset"], 8192);
  EXPECT_EQ(file["unread_bytes"].get<uint64_t>(), fs::file_size(shell_.Path("run.trace")) - 8192);
}

TEST_F(VerifyTest, TruncatedTraceReportsWhatCanBeRead) {
  const auto size = fs::file_size(shell_.Path("run.trace"));
  fs::resize_file(shell_.Path("run.trace"), size - 1);
  EXPECT_EQ(Verify("run.trace").code, 4);
  const json file = OnlyFile("run.trace");
  EXPECT_EQ(file["events"], 4);
  EXPECT_GT(file["lost"]["truncated_bytes"], 0);
  EXPECT_EQ(file["fault_count"], 0);
}

TEST_F(VerifyTest, InconsistentEventIsNamedWithItsOffset) {
  shell_.WriteTrace("odd.trace", std::string(kRun) + "free 0 0x7f0000000000\n");
  const Outcome outcome = Verify("odd.trace");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.out,
              HasSubstr("INCONSISTENT: 2 events cannot be true. The first is event 6 at "
                        "byte "));
  EXPECT_THAT(outcome.out, HasSubstr("frees 0x7f0000000000 of card 0, where no block is in use"));
  const json file = OnlyFile("odd.trace");
  ASSERT_EQ(file["faults"].size(), 2U);
  const uint64_t offset = file["faults"][0]["offset"];
  EXPECT_GT(offset, 8192U);
  EXPECT_LT(offset, fs::file_size(shell_.Path("odd.trace")));
}

TEST_F(VerifyTest, WorstOfSeveralFilesDecidesTheStatus) {
  shell_.Write("no.trace", "hello, world");
  shell_.Write("cut.pickle", "\x80\x04}");
  EXPECT_EQ(Verify("run.trace run.trace").code, 0);
  const Outcome outcome = Verify("run.trace no.trace missing.trace cut.pickle");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("run.trace: whole"));
  EXPECT_THAT(outcome.out, HasSubstr("no.trace: UNREADABLE: is not a memtrace trace"));
  EXPECT_THAT(outcome.out, HasSubstr("missing.trace: UNREADABLE: there is no file"));
  EXPECT_THAT(outcome.out, HasSubstr("cut.pickle: UNREADABLE: "));
  EXPECT_EQ(outcome.err, "");
  FlipLastByte("run.trace");
  EXPECT_EQ(Verify("no.trace run.trace").code, 3);
}

}  // namespace
}  // namespace memtrace
