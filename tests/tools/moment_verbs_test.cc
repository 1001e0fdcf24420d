// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The verbs about a moment, as typed at a prompt: report --at, tree, diff, check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/tools/shell.h"

namespace memtrace {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Six steps with 30 MiB of parameters, 2 MiB more in each step, and 10 MiB that come and go.
std::string LeakingRun() {
  std::string text =
      "alloc 0 0x10000000 requested=30MiB owner=policy stack=main@train.py:3\n"
      "relabel 0 0x10000000 size=30MiB role=parameter path=h.0.mlp.weight\n";
  for (int step = 1; step <= 6; ++step) {
    const std::string kept = std::to_string(0x20000000 + step * 0x1000000);
    text += "step " + std::to_string(step) + "\nphase forward\nalloc 0 " + kept +
            " requested=2MiB stack=keep@train.py:9\n"
            "alloc 0 0x40000000 requested=10MiB stack=forward@train.py:7\n"
            "free 0 0x40000000\nphase other\n";
  }
  return text;
}

std::string OnOneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class MomentVerbsTest : public testing::Test {
 protected:
  MomentVerbsTest() { shell_.WriteTrace("leak.trace", LeakingRun()); }

  json Json(const std::string& command) { return json::parse(shell_.Run(command).out); }
  void ExpectRefusal(const std::string& command, const std::string& part) {
    const Outcome outcome = shell_.Run(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_THAT(outcome.out, IsEmpty()) << command;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("memtrace: "), HasSubstr(part))) << command;
  }

  Shell shell_;
};

TEST_F(MomentVerbsTest, ReportDescribesTheRequestedMoment) {
  const json report = Json("memtrace report --at step:4 --json leak.trace");
  EXPECT_EQ(report["moment"]["name"], "step:4");
  EXPECT_EQ(report["moment"]["held"], (30 + 3 * 2) << 20);
  EXPECT_EQ(report["peak"]["bytes"], (30 + 6 * 2 + 10) << 20);
  const Outcome text = shell_.Run("memtrace report --at step:4 leak.trace");
  EXPECT_THAT(text.out, HasSubstr("At step:4 (in step 4,"));
}

TEST_F(MomentVerbsTest, ReportNamesGrowthAndItsRate) {
  const json growth = Json("memtrace report --json leak.trace")["growth"];
  EXPECT_EQ(growth["bytes_per_step"], 2 << 20);
  ASSERT_EQ(growth["sites"].size(), 1U);
  EXPECT_EQ(growth["sites"][0]["site"], "train.py:9");
  EXPECT_EQ(growth["sites"][0]["bytes_per_step"], 2 << 20);
  EXPECT_THAT(shell_.Run("memtrace report leak.trace").out,
              ContainsRegex("grows by 2.0 MiB per step.[ \n]All[ \n]of[ \n]it[ \n]is[ "
                            "\n]allocated[ \n]at[ \n]train.py:9"));
}

TEST_F(MomentVerbsTest, GrowthOfARunThatEndedIsPast) {
  const std::string card = "sample 0 total=1GiB free=1GiB\n";
  shell_.WriteTrace("killed.trace", card + LeakingRun());
  const std::string killed = OnOneLine(shell_.Run("memtrace report killed.trace").out);
  EXPECT_THAT(killed, HasSubstr("Memory in use grows by 2.0 MiB per step."));
  EXPECT_THAT(killed, HasSubstr("At this rate the card is full in about"));
  shell_.WriteTrace("ended.trace", card + LeakingRun() + "annotate program.exception \"none\"\n");
  const std::string ended = OnOneLine(shell_.Run("memtrace report ended.trace").out);
  EXPECT_THAT(ended, HasSubstr("Memory in use rose by 2.0 MiB per step over 6 steps."));
  EXPECT_THAT(ended, HasSubstr("If the run went on, the card would be full after about"));
  EXPECT_THAT(ended, Not(HasSubstr("At this rate")));
}

TEST_F(MomentVerbsTest, LargerCardIsEnoughOnlyIfAGrowingProgramEnds) {
  shell_.WriteTrace("full.trace",
                    LeakingRun() +
                        "out_of_memory 0 requested=10MiB allocated=10MiB obtainable=6MiB\n"
                        "  card 0 total=48MiB free=6MiB reserved=42MiB live_requested=42MiB "
                        "live_allocated=42MiB\n");
  EXPECT_THAT(shell_.Run("memtrace report full.trace").out,
              AllOf(HasSubstr("enough only if the program ends before what grows"),
                    Not(HasSubstr("postpones"))));
}

TEST_F(MomentVerbsTest, CommandsStandApartFromTheChanges) {
  EXPECT_THAT(shell_.Run("memtrace report leak.trace").out,
              AllOf(HasSubstr("WHAT WOULD TAKE LESS"), HasSubstr("\n\n  see all the evidence")));
}

TEST_F(MomentVerbsTest, MapListsSegmentsAndBlocks) {
  shell_.WriteTrace("map.trace",
                    "map 0 0x10000000 size=8MiB\n"
                    "alloc 0 0x10000000 requested=2MiB stack=main@train.py:3\n"
                    "relabel 0 0x10000000 size=2MiB role=parameter path=weight\n"
                    "alloc 0 0x10400000 requested=4MiB stack=main@train.py:4\n");
  const json segments = Json("memtrace report --map --json map.trace")["segments"];
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0]["bytes"], 8 << 20);
  ASSERT_EQ(segments[0]["pieces"].size(), 3U);
  EXPECT_EQ(segments[0]["pieces"][0]["role"], "parameter");
  EXPECT_EQ(segments[0]["pieces"][1]["kind"], "hole");
  EXPECT_EQ(segments[0]["pieces"][1]["offset"], 2 << 20);
  EXPECT_EQ(segments[0]["pieces"][2]["bytes"], 4 << 20);
  const Outcome text = shell_.Run("memtrace report --map map.trace");
  EXPECT_THAT(text.out, ContainsRegex("0x10000000 +8.00  .P+[.]+[?]+\n"));
  EXPECT_FALSE(Json("memtrace report --json map.trace").contains("segments"));
}

TEST_F(MomentVerbsTest, InvalidMomentIsRejected) {
  ExpectRefusal("memtrace report --at later leak.trace", "'later' is not a moment");
  ExpectRefusal("memtrace report --at step:9 leak.trace", "the last is step 6");
  ExpectRefusal("memtrace report --oom 1 leak.trace", "no out-of-memory error");
  ExpectRefusal("memtrace report --oom 1 --at end leak.trace",
                "--at cannot be used together with --oom");
  ExpectRefusal("memtrace tree --by role,role leak.trace", "each once");
  ExpectRefusal("memtrace diff leak.trace", "two moments");
  ExpectRefusal("memtrace diff --at end --at peak --at oom leak.trace", "at most twice");
}

TEST_F(MomentVerbsTest, TreeSumsAtEachLevel) {
  const json tree = Json("memtrace tree --at peak --by role,site --json leak.trace");
  EXPECT_EQ(tree["bytes"], 52 << 20);
  uint64_t sum = 0;
  for (const json& role : tree["tree"]) {
    uint64_t below = 0;
    for (const json& site : role["children"]) below += site["bytes"].get<uint64_t>();
    EXPECT_EQ(below, role["bytes"]) << role["name"];
    sum += below;
  }
  EXPECT_EQ(sum, tree["bytes"]);
  EXPECT_EQ(tree["tree"][0]["name"], "parameter");
  EXPECT_EQ(tree["tree"][0]["stated_bytes"], 30 << 20);
}

TEST_F(MomentVerbsTest, TreeKeepsTheLargestRowsAndCountsTheRest) {
  const Outcome outcome =
      shell_.Run("memtrace tree --at peak --flat --by site --rows 2 leak.trace");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("train.py:3"), HasSubstr("train.py:9"), Not(HasSubstr("train.py:7")),
                    HasSubstr("1 smaller row is left out")));
}

TEST_F(MomentVerbsTest, DiffShowsMemoryKeptBetweenSteps) {
  const json diff = Json("memtrace diff --at step:2 --at step:5 --json leak.trace");
  ASSERT_EQ(diff["rows"].size(), 1U);
  EXPECT_EQ(diff["rows"][0]["site"], "train.py:9");
  EXPECT_EQ(diff["rows"][0]["change"], 6 << 20);
  EXPECT_EQ(diff["before"]["bytes"].get<uint64_t>() + (6 << 20), diff["after"]["bytes"]);
}

TEST_F(MomentVerbsTest, DiffOfTwoRunsJoinsEqualSites) {
  shell_.WriteTrace("other.trace", "alloc 0 0x10000000 requested=20MiB stack=main@train.py:3\n");
  const Outcome outcome = shell_.Run("memtrace diff --by site leak.trace other.trace");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, ContainsRegex("train.py:9 +-12.00 +12.00 +0.00 +-6\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("train.py:3 +-10.00 +30.00 +20.00 +0\n"));
}

TEST_F(MomentVerbsTest, FilesOfADiffMayFollowItsMoments) {
  shell_.WriteTrace("other.trace", "alloc 0 0x10000000 requested=20MiB stack=main@train.py:3\n");
  const json one = Json("memtrace diff --json --at end leak.trace other.trace");
  EXPECT_EQ(one["before"]["moment"], "end");
  EXPECT_EQ(one["after"]["moment"], "end");
  const json two = Json("memtrace diff --json --at peak --at end leak.trace other.trace");
  EXPECT_EQ(two["before"]["moment"], "peak");
  EXPECT_EQ(two["after"]["file"], "other.trace");
}

TEST_F(MomentVerbsTest, CheckPassesOrExitsWithOne) {
  EXPECT_EQ(shell_.Run("memtrace check --max-peak 52MiB leak.trace").code, 0);
  const Outcome failed = shell_.Run("memtrace check --max-peak 51MiB leak.trace");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(
      failed.out,
      HasSubstr("FAILED  Card 0: the peak is 52.0 MiB, 1.0 MiB above the limit of 51.0 MiB."));
  EXPECT_EQ(shell_.Run("memtrace check --max-growth 2MiB/step leak.trace").code, 0);
  EXPECT_EQ(shell_.Run("memtrace check --max-growth 1MiB/step leak.trace").code, 1);
  const std::string roles = "memtrace check --max-role activation=22MiB --max-role parameter=";
  EXPECT_EQ(shell_.Run(roles + "30MiB leak.trace").code, 0);
  EXPECT_EQ(shell_.Run(roles + "29MiB leak.trace").code, 1);
}

TEST_F(MomentVerbsTest, GrowthOfTooFewStepsIsNotKnown) {
  shell_.WriteTrace("short.trace", "alloc 0 0x10000000 requested=1MiB\nstep 1\nstep 2\n");
  const std::string command = "memtrace check --max-growth 1MiB/step ";
  const Outcome outcome = shell_.Run(command + "short.trace");
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("the growth is not known, because the trace has only 2 "
                                           "steps. Record at least 3 more steps."),
                                 Not(HasSubstr("0 bytes a step"))));
  const json found = Json(command + "--json short.trace");
  EXPECT_TRUE(found["holds"].is_null());
  EXPECT_TRUE(found["checks"][1]["found"].is_null());
  EXPECT_EQ(shell_.Run(command + "--max-peak 1KiB short.trace").code, 1);
  shell_.WriteTrace("none.trace", "alloc 0 0x10000000 requested=1MiB\n");
  EXPECT_THAT(shell_.Run(command + "none.trace").out, HasSubstr("the trace has no steps."));
}

TEST_F(MomentVerbsTest, CheckFailsARunThatRanOutOfMemory) {
  shell_.WriteTrace("oom.trace",
                    "alloc 0 0x10000000 requested=1MiB\nout_of_memory 0 requested=90MiB\n");
  EXPECT_EQ(shell_.Run("memtrace check --max-peak 5MiB oom.trace").code, 1);
  EXPECT_EQ(shell_.Run("memtrace check --allow-oom --max-peak 5MiB oom.trace").code, 0);
}

TEST_F(MomentVerbsTest, RecoveredRunCompletesAndPassesItsChecks) {
  const std::string before = "alloc 0 0x10000000 requested=1MiB\nout_of_memory 0 requested=90MiB\n";
  const std::string after = "alloc 0 0x20000000 requested=2MiB\n";
  const std::string ended = "annotate program.exception \"none\"\n";
  shell_.WriteTrace("over.trace", before + after + ended);
  EXPECT_THAT(
      shell_.Run("memtrace report over.trace").out,
      HasSubstr("The program completed. One request for memory failed, and the program recovered"));
  EXPECT_THAT(shell_.Run("memtrace report --oom 1 over.trace").out, HasSubstr("OUT OF MEMORY"));
  const std::string check = "memtrace check --max-peak 5MiB over.trace";
  EXPECT_EQ(shell_.Run(check).code, 0);
  EXPECT_EQ(shell_.Run(check + " --fail-on-retry").code, 1);
  shell_.WriteTrace("caught.trace", before + ended);
  EXPECT_THAT(shell_.Run("memtrace report caught.trace").out, HasSubstr("OUT OF MEMORY"));
}

TEST_F(MomentVerbsTest, ExceptionThatEndedTheRunIsNamed) {
  shell_.WriteTrace("cut.trace",
                    "alloc 0 0x10000000 requested=1MiB\nannotate program.exception \"KeyError\"\n");
  EXPECT_THAT(
      shell_.Run("memtrace report cut.trace").out,
      HasSubstr("The program did not run out of memory. An exception, KeyError, ended the"));
}

TEST_F(MomentVerbsTest, OtherProcessesOfASimulatedCardAreNamed) {
  const std::string before =
      "info simulated 1\nsample 0 total=8GiB free=3GiB other_processes=5GiB\n"
      "map 0 0x10000000 size=2GiB\nalloc 0 0x10000000 requested=2GiB\n";
  const std::string failure =
      "out_of_memory 0 requested=2GiB allocated=2GiB obtainable=1GiB\n"
      "  card 0 total=8GiB free=1GiB other_processes=5GiB reserved=2GiB live_requested=2GiB "
      "live_allocated=2GiB\n";
  shell_.WriteTrace("two.trace",
                    before + "annotate card.processes.0 \"41 5368709120 process\"\n" + failure);
  EXPECT_THAT(shell_.Run("memtrace report two.trace").out,
              AllOf(HasSubstr("stop process 41 of this run"), Not(HasSubstr("nvidia-smi"))));
  shell_.WriteTrace("other.trace", before + failure);
  EXPECT_THAT(shell_.Run("memtrace report other.trace").out,
              AllOf(HasSubstr("leave out other= in --card"), Not(HasSubstr("nvidia-smi"))));
}

TEST_F(MomentVerbsTest, CheckRejectsInvalidLimits) {
  ExpectRefusal("memtrace check leak.trace", "no limit is given");
  ExpectRefusal("memtrace check --max-peak 70GB leak.trace", "is not a size");
  ExpectRefusal("memtrace check --max-growth 1MiB leak.trace", "is not a growth");
  ExpectRefusal("memtrace check --max-role foo=1MiB leak.trace", "is not a role and its limit");
}

}  // namespace
}  // namespace memtrace
