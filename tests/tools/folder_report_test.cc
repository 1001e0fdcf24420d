// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Tests `memtrace report FOLDER`, which shows the processes of a job side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/tools/shell.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ContainsRegex;
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

// Returns the text without its line breaks.
std::string Unwrapped(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
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
              HasSubstr("WHY RANKS DIFFER  each at its own peak, compared with rank 2"));
  EXPECT_THAT(outcome.out,
              ContainsRegex("  rank 3 +\\+398\\.00 MiB\n +\\+398\\.00 MiB +activations"));
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

TEST_F(FolderReportTest, ProcessesWithoutRanksAreComparedWithTheMedian) {
  for (int process = 0; process < 5; ++process) {
    const std::string text = Process(process, process == 3 ? 500 : 100 + process);
    Write("run.trace." + std::to_string(process), text.substr(text.find("sample")));
  }
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_THAT(outcome.out, HasSubstr("NOT LIKE THE OTHERS"));
  EXPECT_THAT(outcome.out, HasSubstr("700.0 MiB, the median is 302.0 MiB: activations +398.0 MiB"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("KINDS OF RANKS")));
}

TEST_F(FolderReportTest, EqualRanksAreOneKind) {
  Write("a.trace", Process(0, 100));
  Write("b.trace", Process(1, 300));
  Write("c.trace", Process(2, 100));
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_THAT(outcome.out, ContainsRegex("KINDS OF RANKS +ranks +allocated +reserved"));
  EXPECT_THAT(outcome.out, ContainsRegex("  rank 1 +x 1 +500\\.00"));
  EXPECT_THAT(outcome.out, ContainsRegex("  ranks 0, 2 +x 2 +300\\.00"));
  const json kinds = Json()["kinds"];
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0]["ranks"], 1);
  EXPECT_THAT(kinds[1]["files"], ElementsAre("job/a.trace", "job/c.trace"));
  EXPECT_EQ(kinds[1]["fits"], true);
}

TEST_F(FolderReportTest, NamesOfKindsAreWhole) {
  for (const int rank : {0, 256, 300})
    Write("rank" + std::to_string(rank) + ".trace", Process(rank, 100));
  EXPECT_THAT(shell_.Run("memtrace report job").out, ContainsRegex("  ranks 0, 256, 300 +x 3 "));
}

TEST_F(FolderReportTest, PartialTraceIsNotSaidToHaveFit) {
  Write("a.trace", Process(0, 100));
  Write("b.trace", Process(1, 100));
  const fs::path cut = shell_.Path("job/b.trace");
  fs::resize_file(cut, fs::file_size(cut) - 10);
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(Unwrapped(outcome.out),
              HasSubstr("The process whose trace is complete did not run out of memory. "
                        "It is not known if 1 more did: the end of its trace is "
                        "missing."));
  EXPECT_THAT(outcome.out, Not(HasSubstr("None of 2 processes")));
  EXPECT_EQ(Json()["processes"][1]["end_known"], false);
  fs::remove(shell_.Path("job/a.trace"));
  fs::copy_file(cut, shell_.Path("job/c.trace"));
  EXPECT_THAT(shell_.Run("memtrace report job").out,
              HasSubstr("It is not known if any of 2 processes ran out of memory"));
}

// A stage of a pipeline of three on six cards of 1 GiB, with 200 MiB of layers; `more` holds what
// only this stage has.
std::string Stage(int stage, const std::string& more) {
  const std::string rank = std::to_string(2 * stage);
  return "info environment.RANK " + rank +
         "\ninfo environment.WORLD_SIZE 6\ninfo environment.MEMTRACE_REAL_RANKS 0,2,4\n"
         "annotate job.groups \"[{\\\"name\\\":\\\"pp\\\",\\\"size\\\":3,\\\"at\\\":" +
         std::to_string(stage) +
         ",\\\"first\\\":0,\\\"stride\\\":2}]\"\nannotate job.ranks_alike 2\n"
         "sample 0 total=1GiB free=1GiB\nmap 0 0x7f0000000000 size=1GiB\nstep 1\n"
         "alloc 0 0x7f0000000000 requested=200MiB\n"
         "relabel 0 0x7f0000000000 size=200MiB role=parameter path=layers.1.weight\n" +
         more;
}

std::string ParametersOf(const std::string& module, const std::string& address, int mib) {
  const std::string bytes = std::to_string(mib) + "MiB";
  return "alloc 0 " + address + " requested=" + bytes + "\nrelabel 0 " + address +
         " size=" + bytes + " role=parameter path=" + module + ".weight\n";
}

class PipelineReportTest : public FolderReportTest {
 protected:
  PipelineReportTest() {
    Write("rank-0.trace", Stage(0, ParametersOf("tok_embeddings", "0x7f0010000000", 300)));
    Write("rank-2.trace", Stage(1, ""));
    Write("rank-4.trace",
          Stage(2, ParametersOf("output", "0x7f0010000000", 40) +
                       "alloc 0 0x7f0020000000 requested=60MiB "
                       "stack=cross_entropy@/x/site-packages/torch/nn/functional.py:"
                       "3458;step@train.py:9\n"));
  }
};

TEST_F(PipelineReportTest, PlacesAndImbalanceComeFirst) {
  const std::string text = Unwrapped(shell_.Run("memtrace report job").out);
  EXPECT_THAT(text, HasSubstr("None of 3 processes ran out of memory. The fullest was rank 0: "
                              "pipeline stage 1 of 3 ('pp')."));
  EXPECT_THAT(text,
              HasSubstr("Rank 2 (pipeline stage 2 of 3) holds 300.0 MiB less at its peak than "
                        "rank 0 (pipeline stage 1 of 3); balanced, each stage would hold about "
                        "333.3 MiB."));
  EXPECT_THAT(text, HasSubstr("The processes stand for all 6 ranks of the job."));
}

TEST_F(PipelineReportTest, KindsHaveTheirPlacesAndTheRanksTheyStandFor) {
  const Outcome outcome = shell_.Run("memtrace report job");
  EXPECT_THAT(outcome.out, ContainsRegex("  rank 0 +pipeline stage 1 of 3 +x 2 +500\\.00"));
  EXPECT_THAT(outcome.out, ContainsRegex("  rank 2 +pipeline stage 2 of 3 +x 2 +200\\.00"));
  const std::string first = outcome.out.substr(0, outcome.out.find("\nRANK "));
  EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 25);
}

TEST_F(PipelineReportTest, CausesAreThoseThatTheTracesShow) {
  const std::string text = shell_.Run("memtrace report job").out;
  EXPECT_THAT(text, HasSubstr("compared with rank 4 (pipeline stage 3 of 3)"));
  EXPECT_THAT(text,
              HasSubstr("+300.00 MiB    the embedding (tok_embeddings), of which rank 4 holds "
                        "nothing"));
  EXPECT_THAT(text, HasSubstr("-40.00 MiB    the output layer (output), of which rank 0 holds "
                              "nothing"));
  EXPECT_THAT(text, HasSubstr("-60.00 MiB    logits of the loss (torch/nn/functional.py:3458)"));
}

TEST_F(PipelineReportTest, JsonHasKindsPlacesAndCauses) {
  const json report = Json();
  EXPECT_EQ(report["ranks"], 6);
  EXPECT_EQ(report["dimensions"][0]["name"], "pp");
  EXPECT_EQ(report["processes"][2]["place"][0]["at"], 2);
  EXPECT_EQ(report["processes"][2]["ranks_alike"], 2);
  EXPECT_EQ(report["kinds"][0]["ranks"], 2);
  const json& difference = report["differences"][0];
  EXPECT_EQ(difference["file"], "job/rank-0.trace");
  int64_t sum = 0;
  for (const json& cause : difference["causes"]) sum += cause["difference"].get<int64_t>();
  EXPECT_EQ(sum, difference["difference"].get<int64_t>());
  EXPECT_EQ(report["imbalance"]["difference"], 300 << 20);
}

TEST_F(PipelineReportTest, PageDrawsEachRank) {
  shell_.Write("rank-2.html", "a page that was made before");
  ASSERT_EQ(shell_.Run("memtrace report -o page.html job").code, 0);
  const std::string page = ReadFile(shell_.Path("page.html"));
  EXPECT_THAT(page, HasSubstr("<figure class=\"ranks\">"));
  EXPECT_THAT(page, HasSubstr("rows: &#39;pp&#39;; columns: other ranks; hatched: not started"));
  EXPECT_THAT(page, HasSubstr("<template id=\"ranks-data\">"));
  EXPECT_THAT(page, HasSubstr("KINDS OF RANKS"));
}

TEST_F(FolderReportTest, CanBeWrittenAsAPage) {
  Write("a.trace", Process(0, 100) + Failure(700));
  Write("b.trace", Process(1, 100));
  EXPECT_EQ(shell_.Run("memtrace report -o page.html job").code, 0);
  EXPECT_THAT(ReadFile(shell_.Path("page.html")), HasSubstr("1 of 2 processes ran out of memory"));
}

}  // namespace
}  // namespace memtrace
