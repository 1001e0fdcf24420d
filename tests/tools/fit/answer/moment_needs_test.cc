// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/moment_needs.h"

#include <gtest/gtest.h>

#include <map>

#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kNeedMiB = uint64_t{1} << 20;

MomentPeak Peak(const std::string& moment, uint64_t step, uint64_t needs) {
  return {.stay = {.moment = moment, .first = step, .last = step}, .needs = needs};
}

Outcome RunOf(uint64_t needs, std::vector<MomentPeak> moments) {
  Outcome outcome;
  outcome.completed = true;
  ProcessNeed& process = outcome.processes.emplace_back();
  CardNeed& card = process.cards.emplace_back();
  card.peak_allocated = card.total = needs;
  process.moments = std::move(moments);
  return outcome;
}

void RunOut(Outcome& outcome, uint64_t step) {
  outcome.completed = false;
  FailedLine failed;
  failed.line = "train.py:61";
  failed.at.step = step;
  outcome.processes.front().failed = failed;
}

// A card of 100 MiB, whose usual steps need 60.
Answer AnswerWith(Outcome unlimited, Outcome within) {
  Answer answer;
  answer.cards = {"100MiB"};
  answer.card_bytes = {100 * kNeedMiB};
  answer.unlimited = answer.within = RunOf(60 * kNeedMiB, {});
  answer.has_within = true;
  answer.whole_job.emplace();
  answer.whole_job->unlimited = std::move(unlimited);
  answer.whole_job->within = std::move(within);
  answer.whole_job->has_within = true;
  answer.whole_job->moments = MomentNeedsOf(answer);
  return answer;
}

std::map<std::string, MomentNeed> ByName(const Answer& answer) {
  std::map<std::string, MomentNeed> by_name;
  for (const MomentNeed& need : answer.whole_job->moments) by_name[need.moment] = need;
  return by_name;
}

TEST(MomentNeedsTest, MomentThatRanOutOnTheCardIsExactAndLaterOnesAreInferred) {
  const std::vector<MomentPeak> peaks = {Peak("evaluation", 4, 150 * kNeedMiB),
                                         Peak("checkpoint", 6, 70 * kNeedMiB),
                                         Peak("end", 8, 170 * kNeedMiB)};
  Outcome within = RunOf(100 * kNeedMiB, {Peak("evaluation", 4, 100 * kNeedMiB)});
  within.processes.front().moments.front().stay.ended_by = "OutOfMemoryError";
  RunOut(within, 4);
  const Answer answer = AnswerWith(RunOf(170 * kNeedMiB, peaks), within);
  const std::map<std::string, MomentNeed> moments = ByName(answer);
  EXPECT_EQ(moments.at("step").fits, true);
  EXPECT_EQ(moments.at("evaluation").fits, false);
  EXPECT_EQ(moments.at("evaluation").known, Known::kExact);
  EXPECT_EQ(moments.at("evaluation").line, "train.py:61");
  EXPECT_EQ(moments.at("checkpoint").fits, true);
  EXPECT_EQ(moments.at("checkpoint").known, Known::kInferred);
  EXPECT_EQ(moments.at("end").fits, false);
  EXPECT_EQ(FailedMomentOf(answer.whole_job->moments)->moment, "evaluation");
  EXPECT_EQ(answer.verdict(), FitVerdict::kDoesNotFit);
}

TEST(MomentNeedsTest, BatchesThatWereNotRunAreAddedByWhatEachKept) {
  MomentPeak peak = Peak("evaluation", 4, 70 * kNeedMiB);
  peak.stay.batches = 5;
  peak.stay.of = 605;
  peak.stay.growth = kNeedMiB / 10;
  const Answer answer = AnswerWith(RunOf(70 * kNeedMiB, {peak}), RunOf(70 * kNeedMiB, {peak}));
  const MomentNeed evaluation = ByName(answer).at("evaluation");
  EXPECT_EQ(evaluation.needs, 70 * kNeedMiB + 600 * (kNeedMiB / 10));
  EXPECT_EQ(evaluation.known, Known::kInferred);
  EXPECT_EQ(evaluation.fits, false);
  EXPECT_EQ(answer.verdict(), FitVerdict::kDoesNotFit);
}

TEST(MomentNeedsTest, RunIsNotBelowACardThatItsOtherBatchesWouldFill) {
  MomentPeak peak = Peak("evaluation", 4, 70 * kNeedMiB);
  peak.stay.batches = 5;
  peak.stay.of = 25;
  peak.stay.growth = kNeedMiB;
  const Outcome run = RunOf(70 * kNeedMiB, {peak});
  EXPECT_TRUE(IsBelow(run, {90 * kNeedMiB}));
  EXPECT_FALSE(IsBelow(run, {89 * kNeedMiB}));
  EXPECT_TRUE(ExceedsWithUnseen(run, {89 * kNeedMiB}));
  Outcome changed = RunOf(70 * kNeedMiB, {});
  EXPECT_EQ(changed.verdict(), FitVerdict::kFits);
  changed.would_run_out = true;
  EXPECT_EQ(changed.verdict(), FitVerdict::kDoesNotFit);
}

TEST(MomentNeedsTest, RunIsNotBelowACardThatALibraryFillsLater) {
  Outcome run = RunOf(70 * kNeedMiB, {});
  run.processes.front().cards.front().more_beside = 20 * kNeedMiB;
  EXPECT_TRUE(IsBelow(run, {90 * kNeedMiB}));
  EXPECT_FALSE(IsBelow(run, {89 * kNeedMiB}));
}

TEST(MomentNeedsTest, ResumedRunThatRunsOutIsAMomentThatDoesNotFit) {
  Outcome unlimited = RunOf(70 * kNeedMiB, {Peak("end", 8, 70 * kNeedMiB)});
  unlimited.resumed.push_back(RunOf(120 * kNeedMiB, {}));
  Outcome within = RunOf(70 * kNeedMiB, {Peak("end", 8, 70 * kNeedMiB)});
  within.completed = false;
  within.resumed.push_back(RunOf(100 * kNeedMiB, {}));
  RunOut(within.resumed.front(), 1);
  const Answer answer = AnswerWith(unlimited, within);
  EXPECT_EQ(ByName(answer).at("resume").fits, false);
  EXPECT_EQ(ByName(answer).at("resume").needs, 120 * kNeedMiB);
  EXPECT_EQ(ByName(answer).at("end").fits, true);
  EXPECT_EQ(answer.verdict(), FitVerdict::kDoesNotFit);
}

TEST(MomentNeedsTest, JobWhoseMomentsAllFitFitsUnlessOneWasNotSeen) {
  const Outcome run = RunOf(70 * kNeedMiB, {Peak("evaluation", 4, 70 * kNeedMiB)});
  Answer answer = AnswerWith(run, run);
  EXPECT_EQ(answer.verdict(), FitVerdict::kFits);
  answer.gaps.push_back({.moment = "resume", .evidence = "", .why_not = ""});
  EXPECT_EQ(answer.verdict(), FitVerdict::kNotKnown);
}

}  // namespace
}  // namespace memtrace::fit
