// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// `memtrace repair`: writes the readable part of a damaged trace as a whole one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/tools/shell.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Steps of allocations and frees under one owner and stack: some blocks of 64 KiB.
std::string LongRun() {
  std::string text = "info torch 2.11.0\nmap 0 0x7f0000000000 size=20GiB\n";
  for (int i = 0; i < 12'000; ++i) {
    const std::string address = std::to_string(0x7f0000000000 + (int64_t{i % 50} << 20));
    if (i % 1000 == 0) text += "step " + std::to_string(i / 1000 + 1) + "\n";
    if (i >= 50) text += "free 0 " + address + "\n";
    text += "alloc 0 " + address + " requested=" + std::to_string(1000 + i) +
            " stack=f@a.py:" + std::to_string(i % 7) + " owner=o" + std::to_string(i % 3) + "\n";
  }
  return text;
}

class RepairTest : public testing::Test {
 protected:
  RepairTest() { shell_.WriteTrace("run.trace", LongRun()); }
  Outcome Repair(const std::string& words) const { return shell_.Run("memtrace repair " + words); }
  void FlipByte(size_t offset) const {
    std::string bytes = ReadFile(shell_.Path("run.trace"));
    bytes[offset] = static_cast<char>(bytes[offset] ^ 4);
    shell_.Write("run.trace", bytes);
  }
  uint64_t Size() const { return fs::file_size(shell_.Path("run.trace")); }

  // Returns a report's figures for the events, without those for the file.
  json Figures(const std::string& file) const {
    json report = json::parse(shell_.Run("memtrace report --json " + file).out);
    report.erase("lost");
    for (const char* key : {"file", "events", "siblings", "repaired"}) report["run"].erase(key);
    return report;
  }
  void ExpectToBeRepaired() const {
    const std::string before = ReadFile(shell_.Path("run.trace"));
    const Outcome outcome = Repair("run.trace -o new.trace");
    ASSERT_EQ(outcome.code, 4) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("wrote new.trace with "));
    EXPECT_EQ(ReadFile(shell_.Path("run.trace")), before);
    const Outcome whole = shell_.Run("memtrace verify new.trace");
    EXPECT_EQ(whole.code, 0) << whole.out;
    EXPECT_EQ(Figures("new.trace"), Figures("run.trace"));
    EXPECT_THAT(shell_.Run("memtrace report new.trace").out,
                HasSubstr("REPAIRED from run.trace: "));
  }

  Shell shell_;
};

TEST_F(RepairTest, DamagedBlockIsRemovedAndItsEventsCounted) {
  const json before = json::parse(shell_.Run("memtrace stats --json run.trace").out);
  FlipByte(Size() / 2);
  ExpectToBeRepaired();
  const json after = json::parse(shell_.Run("memtrace stats --json new.trace").out);
  // One of the events says how many are missing.
  EXPECT_EQ(after["events"]["all"].get<uint64_t>() - 1 + after["lost"]["events"].get<uint64_t>(),
            before["events"]["all"]);
}

TEST_F(RepairTest, TruncatedEndIsReportedMissing) {
  fs::resize_file(shell_.Path("run.trace"), Size() - 100'000);
  ExpectToBeRepaired();
  const json run = json::parse(shell_.Run("memtrace report --json new.trace").out);
  EXPECT_EQ(run["lost"]["events"], 1);
  EXPECT_THAT(run["run"]["repaired"], HasSubstr("cut short"));
}

TEST_F(RepairTest, SeveralFaultsAreRepairedAtOnce) {
  FlipByte(10'000);
  FlipByte(Size() / 2 + 70'000);
  fs::resize_file(shell_.Path("run.trace"), Size() - 4711);
  ExpectToBeRepaired();
}

TEST_F(RepairTest, WholeTraceIsNotRewritten) {
  const Outcome outcome = Repair("run.trace -o new.trace");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err,
            "memtrace: run.trace is whole; there is nothing to repair, and nothing was written\n");
  EXPECT_FALSE(fs::exists(shell_.Path("new.trace")));
}

TEST_F(RepairTest, ExistingFileIsOverwrittenOnlyIfForced) {
  FlipByte(Size() / 2);
  shell_.Write("new.trace", "precious");
  EXPECT_EQ(Repair("run.trace -o new.trace").code, 2);
  EXPECT_EQ(ReadFile(shell_.Path("new.trace")), "precious");
  EXPECT_EQ(Repair("run.trace -f -o run.trace").code, 2);
  EXPECT_EQ(Repair("run.trace -f -o new.trace").code, 4);
  EXPECT_EQ(Repair("new.trace -o again.trace").code, 0);
}

TEST_F(RepairTest, UnreadableTraceIsRejected) {
  shell_.Write("no.trace", "hello");
  EXPECT_EQ(Repair("no.trace -o new.trace").code, 3);
  fs::resize_file(shell_.Path("run.trace"), 5000);
  const Outcome outcome = Repair("run.trace -o new.trace");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("has no event that can be read"));
  EXPECT_THAT(shell_.Run("ls").out, Not(HasSubstr("new")));
}

}  // namespace
}  // namespace memtrace
