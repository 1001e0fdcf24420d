// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/report/fit/fit_answers.h"
#include "tools/report/fit/fit_json.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Outcome;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(FitVerdictTest, VerdictNamesTheObservedSteps) {
  const std::string verdict = VerdictOf(AnswerOf(RunOf(600), RunOf(600)));
  EXPECT_THAT(verdict, StartsWith("FITS IN THE 5 STEPS SEEN. In them it needs 600.0 MiB of card"));
  EXPECT_THAT(verdict, HasSubstr("What comes after them was not seen."));
  EXPECT_THAT(verdict, Not(HasSubstr("completed")));
}

TEST(FitVerdictTest, WholeJobThatCameToItsEndFits) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  Outcome job = RunOf(700);
  job.processes[0].end = fit::TrialEnd::kProgram;
  job.outlook = fit::OutlookOf(job.processes, answer.card_bytes);
  answer.whole_job =
      fit::WholeJob{.unlimited = job, .within = job, .has_within = true, .moments = {}};
  answer.whole_job->moments = fit::MomentNeedsOf(answer);
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS. Its whole job was run with fewer steps"));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["verdict"], "fits");
}

// An answer about a job of 8 ranks, of which two ran.
Answer AnswerOfJob(std::vector<int> alike, std::vector<int> left_out) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.card_bytes = std::vector<uint64_t>(8, 1000 * kMiB);
  answer.job = launch::JobRanks{.world = 8, .cards = 8, .real = {0, 4}};
  answer.job->alike = std::move(alike);
  answer.job->left_out = std::move(left_out);
  return answer;
}

TEST(FitVerdictTest, JobFitsIfEachKindOfRankDoes) {
  const Answer answer = AnswerOfJob({4, 4}, {});
  EXPECT_THAT(VerdictOf(answer),
              StartsWith("FITS IN THE 5 STEPS SEEN. In them rank 0 needs most:"));
  EXPECT_THAT(AllOf(answer), HasSubstr("are of 2 kinds; one of each ran: 0, 4."));
  const auto json = nlohmann::json::parse(JsonFit(answer));
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["verdict"], "fits_in_the_steps_seen");
}

TEST(FitVerdictTest, JobIsNotSaidToFitIfAKindOfRankDidNotRun) {
  for (const Answer& answer :
       {AnswerOfJob({2, 2}, {2, 6}), AnswerOfJob({2, 2}, {}), AnswerOfJob({}, {})}) {
    EXPECT_THAT(VerdictOf(answer), StartsWith("THE RANKS THAT RAN FIT IN THE 5 STEPS SEEN."));
    const auto json = nlohmann::json::parse(JsonFit(answer));
    EXPECT_TRUE(json["fits"].is_null());
    EXPECT_EQ(json["verdict"], "ranks_that_ran_fit");
  }
  EXPECT_THAT(AllOf(AnswerOfJob({}, {})),
              HasSubstr("It is not known if the other ranks need more."));
}

TEST(FitVerdictTest, JobDoesNotFitIfARankThatRanDoesNot) {
  Answer answer = AnswerOfJob({}, {});
  RunOut(answer.within);
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["fits"], false);
}

TEST(FitVerdictTest, AllRanksOfAJobMayRun) {
  Answer answer = AnswerOfJob({}, {});
  answer.job->world = 2;
  answer.job->real = {0, 1};
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer), HasSubstr("All 2 ranks of the job ran."));
}

TEST(FitVerdictTest, RunThatNeedsMoreOnTheCardIsNotSaidToTakeLess) {
  Answer answer = AnswerOf(RunOf(600), RunOf(900));
  answer.within.outlook.steps = 50;
  EXPECT_THAT(AllOf(answer), HasSubstr("900.0 MiB"));
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("takes less")));
  EXPECT_THAT(AllOf(AnswerOf(RunOf(1200), RunOf(900))), HasSubstr("takes less"));
}

TEST(FitVerdictTest, NeedOfTheWholeJobWasSeenWithoutALimit) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.whole_job = fit::WholeJob{
      .unlimited = RunOf(700), .within = RunOf(700), .has_within = true, .moments = {}};
  EXPECT_THAT(AllOf(answer), HasSubstr("It was seen in a run without a limit;"));
}

TEST(FitVerdictTest, ValueWhoseRunWasLateIsNotSaidToFailByItself) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  fit::Scaling& scaling = answer.scalings.emplace_back();
  scaling.name = "batch";
  scaling.points = {{.value = 1}, {.value = 2}};
  scaling.largest = 4;
  scaling.fails = 5;
  answer.beyond = RunOf(600);
  answer.beyond->is_late = true;
  answer.beyond->exit_code = 137;
  EXPECT_THAT(VerdictOf(answer), StartsWith("batch=4 fits. It is not known if batch=5 does"));
}

TEST(FitVerdictTest, MomentThatLimitsTheLargestValueIsNamed) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.whole_job = fit::WholeJob{
      .unlimited = RunOf(700), .within = RunOf(700), .has_within = true, .moments = {}};
  answer.whole_job->limited_by = fit::MomentNeed{.moment = "evaluation"};
  fit::Scaling& scaling = answer.scalings.emplace_back();
  scaling.name = "batch";
  scaling.points = {{.value = 1}, {.value = 2}};
  scaling.largest = 4;
  scaling.fails = 5;
  answer.beyond = RunOf(1200);
  RunOut(*answer.beyond);
  EXPECT_THAT(VerdictOf(answer), HasSubstr("The moment that limits it is an evaluation."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["limited_by"]["name"], "evaluation");
}

TEST(FitVerdictTest, NeedOfAFittingRunIsThatOnTheCard) {
  const std::string verdict = VerdictOf(AnswerOf(RunOf(1200), RunOf(900)));
  EXPECT_THAT(verdict, StartsWith("FITS IN THE 5 STEPS SEEN. In them it needs 900.0 MiB of card"));
}

TEST(FitVerdictTest, SumOfPeaksBeyondTheCardIsNotReportedAsTheNeed) {
  Outcome both = RunOf(600);
  both.processes.push_back(both.processes[0]);
  const std::string verdict = VerdictOf(AnswerOf(both, both));
  EXPECT_THAT(verdict, HasSubstr("add up to 1.17 GiB of card 0's 1000.0 MiB, but were not reached "
                                 "at the same time"));
  EXPECT_THAT(verdict, Not(HasSubstr("It needs")));
}

TEST(FitVerdictTest, CaughtErrorThatEndsTheProgramDoesNotFit) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT. It needs 1.17 GiB"));
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("First to fail on the card: train.py:3"));
  EXPECT_THAT(text, HasSubstr("caught this error and ended with exit code 0"));
}

TEST(FitVerdictTest, RecoveredRequestFitsWithANote) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  answer.within.completed = true;
  answer.within.processes[0].went_on = true;
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer),
              HasSubstr("1 request failed on the card, and the program recovered from it"));
}

TEST(FitVerdictTest, RisingPeakNamesTheStepThatFillsTheCard) {
  Outcome rising = RunOf(600);
  rising.processes[0].cards[0].rises = {
      {1, 100 * kMiB}, {2, 300 * kMiB}, {3, 400 * kMiB}, {4, 500 * kMiB}, {5, 600 * kMiB}};
  rising.outlook = fit::OutlookOf(rising.processes, {1000 * kMiB});
  EXPECT_THAT(VerdictOf(AnswerOf(rising, rising)),
              StartsWith("WILL NOT FIT beyond about step 9. The peak rose by 100.0 MiB in each of "
                         "the last 3 steps."));
}

TEST(FitVerdictTest, StepsThatTheTrainerPlansAreSaid) {
  Outcome run = RunOf(600);
  run.processes[0].planned_steps = 40;
  run.outlook = fit::OutlookOf(run.processes, {1000 * kMiB});
  EXPECT_THAT(VerdictOf(AnswerOf(run, run)),
              HasSubstr("Its Trainer plans 40 steps; the rest of them was not seen."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(AnswerOf(run, run)))["seen"]["planned_steps"], 40);
  run.outlook.climb = fit::Climb{.bytes = 10 * kMiB, .times = 3, .last_step = 5};
  run.outlook.full_in_step = 45;
  EXPECT_THAT(VerdictOf(AnswerOf(run, run)),
              HasSubstr("full in about step 45, after the 40 steps that its Trainer plans."));
}

TEST(FitVerdictTest, ProgramThatEndedByItselfFits) {
  Outcome whole = RunOf(600);
  whole.processes[0].end = fit::TrialEnd::kProgram;
  whole.outlook = fit::OutlookOf(whole.processes, {1000 * kMiB});
  const Answer answer = AnswerOf(whole, whole);
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS. It needs 600.0 MiB of card 0's 1000.0 MiB."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["verdict"], "fits");
}

TEST(FitVerdictTest, OnlyMomentThatWasNotSeenIsInTheVerdict) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.gaps = {{"evaluation", "train.py:61 calls eval().", "It needs data."}};
  EXPECT_THAT(VerdictOf(answer),
              StartsWith("NOT KNOWN. Nothing failed in 5 steps. The job also has a moment that was "
                         "not seen: an evaluation. train.py:61 calls eval(). It needs data. It "
                         "needs 600.0 MiB of card 0's 1000.0 MiB (seen in 5 steps)."));
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("NOT SEEN")));
  const auto json = nlohmann::json::parse(JsonFit(answer));
  EXPECT_TRUE(json["fits"].is_null());
  EXPECT_EQ(json["verdict"], "not_known");
  EXPECT_EQ(json["gaps"][0]["moment"], "evaluation");
  EXPECT_EQ(json["gaps"][0]["why_not"], "It needs data.");
}

TEST(FitVerdictTest, SeveralMomentsThatWereNotSeenAreASection) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.gaps = {{"evaluation", "train.py:61 calls eval().", ""}, {"resume", "It can resume.", ""}};
  EXPECT_THAT(VerdictOf(answer), HasSubstr("moments that were not seen: an evaluation, resuming "
                                           "from a checkpoint. It needs 600.0 MiB"));
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("NOT SEEN"));
  EXPECT_THAT(text, HasSubstr("train.py:61 calls eval()."));
}

TEST(FitVerdictTest, GrowthThatWasFollowedRunsOutInItsStep) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  RunOut(answer.within);
  answer.within.processes[0].failed->at.step = 13;
  answer.within.outlook.full_in_step = 13;
  answer.within.outlook.steps = 12;
  answer.within.outlook.climb =
      fit::Climb{.bytes = 116 * kMiB, .times = 8, .last_step = 12, .is_of_floor = true};
  EXPECT_THAT(VerdictOf(answer),
              StartsWith("RUNS OUT IN STEP 13. The memory in use grew by 116.0 MiB in each step "
                         "until then. It needs 600.0 MiB of card 0's 1000.0 MiB (seen in 5 "
                         "steps)."));
  EXPECT_THAT(AllOf(answer), HasSubstr("First to fail on the card: train.py:3"));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["verdict"], "does_not_fit");
}

TEST(FitVerdictTest, StoppedSearchReportsWhatIsKnown) {
  Answer answer = AnswerOf(RunOf(600), {});
  answer.has_within = false;
  answer.stopped = fit::StoppedTrial{.name = "on the card", .outcome = RunOf(300)};
  const std::string verdict = VerdictOf(answer);
  EXPECT_THAT(verdict, StartsWith("NOT KNOWN. It needs 600.0 MiB of card 0's 1000.0 MiB"));
  EXPECT_THAT(verdict, HasSubstr("stopped in the run \"on the card\""));
}

TEST(FitVerdictTest, SearchStoppedAfterTheRunOnTheCardKeepsItsVerdict) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.stopped = fit::StoppedTrial{.name = "on the card, with 5 % less", .outcome = RunOf(300)};
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer), HasSubstr("stopped in the run \"on the card, with 5 % less\""));
}

TEST(FitVerdictTest, StoppedRunBeyondTheCardDoesNotFit) {
  Answer answer = AnswerOf({}, {});
  answer.has_within = false;
  answer.stopped = fit::StoppedTrial{.name = "without a limit", .outcome = RunOf(1200)};
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT. memtrace fit was stopped in the run"));
}

}  // namespace
}  // namespace memtrace::report
