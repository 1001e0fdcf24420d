// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Tests `memtrace report FOLDER`, which shows the processes of a job side by side.
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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kSecond = 1'000'000'000;

// A process on a card of 1 GiB that holds 200 MiB of parameters and `activations` MiB, and began
// `second` seconds after the others.
std::string Process(int rank, int activations, int second = 0) {
  return "info environment.RANK " + std::to_string(rank) +
         "\ninfo environment.WORLD_SIZE 5\ninfo started_unix_ns " +
         std::to_string(1'700'000'000 * kSecond + static_cast<uint64_t>(second) * kSecond) +
         "\nsample 0 total=1GiB free=1GiB\nmap 0 0x7f0000000000 size=1GiB\nstep 1\n"
         "alloc 0 0x7f0000000000 requested=200MiB\n"
         "relabel 0 0x7f0000000000 size=200MiB role=parameter\n"
         "alloc 0 0x7f0010000000 requested=" +
         std::to_string(activations) +
         "MiB\nrelabel 0 0x7f0010000000 size=" + std::to_string(activations) +
         "MiB role=activation\n";
}

std::string Failure(int mib) {
  return "out_of_memory 0 requested=" + std::to_string(mib) +
         "MiB allocated=" + std::to_string(mib) + "MiB obtainable=10MiB stack=main@train.py:9\n";
}

class FolderReportTest : public testing::Test {
 protected:
  FolderReportTest() { fs::create_directory(shell_.Path("job")); }
  void Write(const std::string& name, const std::string& text) const {
    shell_.WriteTrace("job/" + name, text);
  }
  json Json() const { return json::parse(shell_.Run("memtrace report --json job").out); }

  Shell shell_;
};

TEST_F(FolderReportTest, FirstProcessToFailIsNamed) {
  Write("run.trace", Process(0, 100) + Failure(700));
  Write("run.trace.11", Process(1, 100, 3) + Failure(700));
  Write("run.trace.12", Process(2, 100));
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("2 of 3 processes ran out of memory. The first was rank 0"));
  EXPECT_THAT(outcome.out, HasSubstr("MISSING: there are no readable traces of 2 ranks: 3, 4"));
  EXPECT_THAT(outcome.out,
              HasSubstr("to see what holds the memory: memtrace report job/run.trace\n"));
  const json report = Json();
  EXPECT_EQ(report["first_to_fail"], "job/run.trace");
  EXPECT_THAT(report["missing_ranks"], ElementsAre(3, 4));
  const json& late = report["processes"][1]["first_failure"];
  EXPECT_GE(late["time_ns"].get<uint64_t>(), 3 * kSecond);
  EXPECT_EQ(late["bytes"], 700 << 20);
}

TEST_F(FolderReportTest, VirtualRanksAreNotMissing) {
  const std::string ranks = "info environment.MEMTRACE_REAL_RANKS 0,3,4\n";
  Write("rank-0.trace", ranks + Process(0, 100));
  Write("rank-3.trace", ranks + Process(3, 100));
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_THAT(outcome.out, HasSubstr("MISSING: there is no readable trace of 1 rank: 4"));
  EXPECT_THAT(outcome.out, HasSubstr("2 more ranks of the job were virtual"));
  EXPECT_EQ(Json()["virtual_ranks"], 2);
  EXPECT_THAT(shell_.Run("memtrace report job/rank-3.trace").out,
              HasSubstr("rank 3 of 5, 2 of which are virtual"));
}

TEST_F(FolderReportTest, OutlierIsNamedWithItsExtraMemory) {
  for (int rank = 0; rank < 5; ++rank)
    Write("rank" + std::to_string(rank) + ".trace", Process(rank, rank == 3 ? 500 : 100 + rank));
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_THAT(outcome.out,
              HasSubstr("None of 5 processes ran out of memory. The fullest was rank 3"));
  EXPECT_THAT(outcome.out,
              HasSubstr("rank 3  700.0 MiB, the median is 302.0 MiB: activations +398.0 MiB"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("MISSING")));
  const json outliers = Json()["outliers"];
  ASSERT_EQ(outliers.size(), 1U);
  EXPECT_EQ(outliers[0]["file"], "job/rank3.trace");
  EXPECT_EQ(outliers[0]["roles"][0]["difference"], 398 << 20);
}

TEST_F(FolderReportTest, UnreadableTraceIsListed) {
  Write("a.trace", Process(0, 100));
  Write("b.trace", Process(1, 100));
  shell_.Write("job/c.trace", "");
  shell_.Write("job/notes.txt", "no trace");
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.out, HasSubstr("3 traces · 1 of them is UNREADABLE"));
  EXPECT_THAT(outcome.out, HasSubstr("job/c.trace is not a memtrace trace: the file is empty"));
  EXPECT_EQ(Json()["processes"][2]["readable"], false);
}

TEST_F(FolderReportTest, SingleTraceIsReportedAsUsual) {
  Write("a.trace", Process(0, 100));
  EXPECT_THAT(shell_.Run("memtrace report job").out, HasSubstr("WHO HOLDS CARD 0"));
}

TEST_F(FolderReportTest, MomentNeedsASingleTrace) {
  Write("a.trace", Process(0, 100));
  Write("b.trace", Process(1, 100));
  const Outcome outcome = shell_.Run("memtrace report --at peak job");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("name one trace of job, such as job/a.trace"));
}

TEST_F(FolderReportTest, FolderWithoutTracesIsRejected) {
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("there is no trace in it: it is empty; memtrace run -o "
                                     "job/run.trace -- COMMAND records one"));
  shell_.Write("job/b.txt", "words");
  EXPECT_THAT(shell_.Run("memtrace report job").err,
              HasSubstr("there is no trace in it, only other files; name the folder"));
}

TEST_F(FolderReportTest, CanBeWrittenAsAPage) {
  Write("a.trace", Process(0, 100) + Failure(700));
  Write("b.trace", Process(1, 100));
  EXPECT_EQ(shell_.Run("memtrace report -o page.html job").code, 0);
  EXPECT_THAT(ReadFile(shell_.Path("page.html")), HasSubstr("1 of 2 processes ran out of memory"));
}

}  // namespace
}  // namespace memtrace
