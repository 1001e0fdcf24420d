// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tools/fit/changes/candidates.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/words/document.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Outcome;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kMiB = 1 << 20;

// A run that needed `mib` MiB on a card of 1,000 MiB, and was stopped after five steps.
Outcome RunOf(uint64_t mib) {
  Outcome outcome;
  outcome.completed = true;
  fit::ProcessNeed& process = outcome.processes.emplace_back();
  process.steps = 5;
  process.end = fit::TrialEnd::kSettled;
  fit::CardNeed& need = process.cards.emplace_back();
  need.peak_allocated = need.peak_reserved = need.total = mib * kMiB;
  need.rises = {{1, need.total / 2}, {2, need.total}};
  outcome.outlook = fit::OutlookOf(outcome.processes, {1000 * kMiB});
  return outcome;
}

Answer AnswerOf(Outcome unlimited, Outcome within) {
  Answer answer;
  answer.cards = {"1000MiB"};
  answer.card_bytes = {1000 * kMiB};
  answer.unlimited = std::move(unlimited);
  answer.within = std::move(within);
  answer.has_within = true;
  return answer;
}

void RunOut(Outcome& outcome) {
  outcome.completed = false;
  fit::ProcessNeed& process = outcome.processes[0];
  process.failed =
      fit::FailedLine{.line = "train.py:3", .bytes = 70 * kMiB, .short_by = kMiB, .at = {}};
  process.failures = 1;
}

// Returns the first paragraph, on one line.
std::string VerdictOf(const Answer& answer) {
  const Document document = FitDocument(answer);
  return std::get<Paragraph>(document.at(0).parts.at(0)).text;
}

std::string AllOf(const Answer& answer) {
  std::string text = TextOf(FitDocument(answer));
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

TEST(FitDocumentTest, VerdictNamesTheObservedSteps) {
  const std::string verdict = VerdictOf(AnswerOf(RunOf(600), RunOf(600)));
  EXPECT_THAT(verdict, StartsWith("FITS IN THE 5 STEPS SEEN. In them it needs 600.0 MiB of card"));
  EXPECT_THAT(verdict, HasSubstr("What comes after them was not seen."));
  EXPECT_THAT(verdict, Not(HasSubstr("completed")));
}

TEST(FitDocumentTest, WholeJobThatCameToItsEndFits) {
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

TEST(FitDocumentTest, JobFitsIfEachKindOfRankDoes) {
  const Answer answer = AnswerOfJob({4, 4}, {});
  EXPECT_THAT(VerdictOf(answer),
              StartsWith("FITS IN THE 5 STEPS SEEN. In them rank 0 needs most:"));
  EXPECT_THAT(AllOf(answer), HasSubstr("are of 2 kinds; one of each ran: 0, 4."));
  const auto json = nlohmann::json::parse(JsonFit(answer));
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["verdict"], "fits_in_the_steps_seen");
}

TEST(FitDocumentTest, JobIsNotSaidToFitIfAKindOfRankDidNotRun) {
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

TEST(FitDocumentTest, JobDoesNotFitIfARankThatRanDoesNot) {
  Answer answer = AnswerOfJob({}, {});
  RunOut(answer.within);
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["fits"], false);
}

TEST(FitDocumentTest, AllRanksOfAJobMayRun) {
  Answer answer = AnswerOfJob({}, {});
  answer.job->world = 2;
  answer.job->real = {0, 1};
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer), HasSubstr("All 2 ranks of the job ran."));
}

TEST(FitDocumentTest, NeedOfAFittingRunIsThatOnTheCard) {
  const std::string verdict = VerdictOf(AnswerOf(RunOf(1200), RunOf(900)));
  EXPECT_THAT(verdict, StartsWith("FITS IN THE 5 STEPS SEEN. In them it needs 900.0 MiB of card"));
}

TEST(FitDocumentTest, SumOfPeaksBeyondTheCardIsNotReportedAsTheNeed) {
  Outcome both = RunOf(600);
  both.processes.push_back(both.processes[0]);
  const std::string verdict = VerdictOf(AnswerOf(both, both));
  EXPECT_THAT(verdict, HasSubstr("add up to 1.17 GiB of card 0's 1000.0 MiB, but were not reached "
                                 "at the same time"));
  EXPECT_THAT(verdict, Not(HasSubstr("It needs")));
}

TEST(FitDocumentTest, CaughtErrorThatEndsTheProgramDoesNotFit) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT. It needs 1.17 GiB"));
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("First to fail on the card: train.py:3"));
  EXPECT_THAT(text, HasSubstr("caught this error and ended with exit code 0"));
}

TEST(FitDocumentTest, RecoveredRequestFitsWithANote) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  answer.within.completed = true;
  answer.within.processes[0].went_on = true;
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer),
              HasSubstr("1 request failed on the card, and the program recovered from it"));
}

TEST(FitDocumentTest, ChangesNameWhatTheProgramHas) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  for (const fit::Candidate& candidate : fit::AllCandidates())
    answer.remedies.push_back({.changes = {candidate}, .outcome = RunOf(900)});
  EXPECT_THAT(AllOf(answer), HasSubstr("fused=True for the optimizer"));
  EXPECT_THAT(AllOf(answer), HasSubstr("torch.utils.checkpoint.checkpoint around each layer"));
  answer.unlimited.annotations["optimizer.class"] = "SGD";
  EXPECT_THAT(AllOf(answer), HasSubstr("SGD(..., fused=True)"));
  EXPECT_THAT(AllOf(answer), HasSubstr("SGD(..., foreach=False)"));
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("AdamW(...")));
}

TEST(FitDocumentTest, ChangesNameTheirDegree) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  for (fit::Candidate& candidate : fit::PlanCandidates()) {
    candidate.degree = candidate.hook == "pieces" ? 4 : candidate.hook == "checkpoint" ? 9 : 0;
    candidate.of = 32;
    answer.remedies.push_back({.changes = {candidate}, .outcome = RunOf(900)});
  }
  EXPECT_THAT(AllOf(answer), HasSubstr("here in 4 parts"));
  EXPECT_THAT(AllOf(answer), HasSubstr("only for the first 9 of 32 layers"));
  for (fit::TriedRemedy& tried : answer.remedies) tried.changes[0].degree = 0;
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("here in 4")));
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("only for the first")));
}

TEST(FitDocumentTest, BytesSentToOtherCardsAreReportedIfThereAreAny) {
  Outcome sends = RunOf(600);
  EXPECT_THAT(AllOf(AnswerOf(sends, sends)), Not(HasSubstr("Each step sends")));
  sends.processes[0].cost.sent_bytes = 1536 * kMiB;
  sends.processes[0].cost.sent_bytes_network = 300 * kMiB;
  EXPECT_THAT(AllOf(AnswerOf(sends, sends)),
              HasSubstr("Each step sends 1.50 GiB to other cards of the machine, 300.0 MiB over "
                        "the network"));
  const auto json = nlohmann::json::parse(JsonFit(AnswerOf(sends, sends)));
  EXPECT_EQ(json["processes"][0]["step_cost"]["sent_bytes"], 1536 * kMiB);
  EXPECT_EQ(json["processes"][0]["step_cost"]["sent_bytes_network"], 300 * kMiB);
}

TEST(FitDocumentTest, ProcessThatSendsMostIsNamed) {
  Outcome both = RunOf(400);
  both.processes.push_back(both.processes[0]);
  both.processes[0].cost.sent_bytes = 10 * kMiB;
  both.processes[1].cost.sent_bytes_network = 20 * kMiB;
  both.processes[1].name = "rank 1";
  EXPECT_THAT(AllOf(AnswerOf(both, both)),
              HasSubstr("Each step of rank 1 sends 20.0 MiB over the network"));
}

TEST(FitDocumentTest, ChangedTrafficIsAmongTheCosts) {
  const fit::StepCost before = {.sent_bytes = 1000 * kMiB, .sent_bytes_network = 100 * kMiB};
  EXPECT_EQ(CostText(before, before), "");
  EXPECT_EQ(CostText({}, before),
            "sends 1000.0 MiB to other cards of the machine, 100.0 MiB over "
            "the network");
  EXPECT_EQ(CostText(before, {.sent_bytes = 500 * kMiB}),
            "sends 500.0 MiB to other cards of the machine");
}

TEST(FitDocumentTest, RisingPeakNamesTheStepThatFillsTheCard) {
  Outcome rising = RunOf(600);
  rising.processes[0].cards[0].rises = {
      {1, 100 * kMiB}, {2, 300 * kMiB}, {3, 400 * kMiB}, {4, 500 * kMiB}, {5, 600 * kMiB}};
  rising.outlook = fit::OutlookOf(rising.processes, {1000 * kMiB});
  EXPECT_THAT(VerdictOf(AnswerOf(rising, rising)),
              StartsWith("WILL NOT FIT beyond about step 9. The peak rose by 100.0 MiB in each of "
                         "the last 3 steps."));
}

TEST(FitDocumentTest, ProgramThatEndedByItselfFits) {
  Outcome whole = RunOf(600);
  whole.processes[0].end = fit::TrialEnd::kProgram;
  whole.outlook = fit::OutlookOf(whole.processes, {1000 * kMiB});
  const Answer answer = AnswerOf(whole, whole);
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS. It needs 600.0 MiB of card 0's 1000.0 MiB."));
  EXPECT_EQ(nlohmann::json::parse(JsonFit(answer))["verdict"], "fits");
}

TEST(FitDocumentTest, OnlyMomentThatWasNotSeenIsInTheVerdict) {
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

TEST(FitDocumentTest, SeveralMomentsThatWereNotSeenAreASection) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.gaps = {{"evaluation", "train.py:61 calls eval().", ""}, {"resume", "It can resume.", ""}};
  EXPECT_THAT(VerdictOf(answer), HasSubstr("moments that were not seen: an evaluation, resuming "
                                           "from a checkpoint. It needs 600.0 MiB"));
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("NOT SEEN"));
  EXPECT_THAT(text, HasSubstr("train.py:61 calls eval()."));
}

TEST(FitDocumentTest, GrowthThatWasFollowedRunsOutInItsStep) {
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

TEST(FitDocumentTest, ChangesFitInTheStepsSeen) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  for (const fit::Candidate& candidate : fit::AllCandidates())
    answer.remedies.push_back({.changes = {candidate}, .outcome = RunOf(900)});
  answer.recommended = 0;
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("in the first 5 steps"));
  EXPECT_THAT(text, HasSubstr("with which nothing failed on the card in 5 steps."));
}

TEST(FitDocumentTest, StoppedSearchReportsWhatIsKnown) {
  Answer answer = AnswerOf(RunOf(600), {});
  answer.has_within = false;
  answer.stopped = fit::StoppedTrial{.name = "on the card", .outcome = RunOf(300)};
  const std::string verdict = VerdictOf(answer);
  EXPECT_THAT(verdict, StartsWith("NOT KNOWN. It needs 600.0 MiB of card 0's 1000.0 MiB"));
  EXPECT_THAT(verdict, HasSubstr("stopped in the run \"on the card\""));
}

TEST(FitDocumentTest, SearchStoppedAfterTheRunOnTheCardKeepsItsVerdict) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  answer.stopped = fit::StoppedTrial{.name = "on the card, with 5 % less", .outcome = RunOf(300)};
  EXPECT_THAT(VerdictOf(answer), StartsWith("FITS"));
  EXPECT_THAT(AllOf(answer), HasSubstr("stopped in the run \"on the card, with 5 % less\""));
}

TEST(FitDocumentTest, StoppedRunBeyondTheCardDoesNotFit) {
  Answer answer = AnswerOf({}, {});
  answer.has_within = false;
  answer.stopped = fit::StoppedTrial{.name = "without a limit", .outcome = RunOf(1200)};
  EXPECT_THAT(VerdictOf(answer), StartsWith("DOES NOT FIT. memtrace fit was stopped in the run"));
}

TEST(FitDocumentTest, FailureWithoutALineHasNullInJson) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  answer.within.processes[0].failed->line = "";
  EXPECT_TRUE(nlohmann::json::parse(JsonFit(answer))["first_failure"]["line"].is_null());
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("on the card: ,")));
}

// A job on 1000 MiB whose evaluation was not run whole, and would need 1,100.
Answer AnswerWithInferredMoment() {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  fit::MomentNeed evaluation{.moment = "evaluation", .needs = uint64_t{1100} << 20};
  evaluation.fits = false;
  evaluation.known = fit::Known::kInferred;
  evaluation.holder = {.name = "activation, [0]", .bytes = uint64_t{300} << 20, .places = 13};
  answer.whole_job.emplace().moments = {evaluation};
  return answer;
}

TEST(FitDocumentTest, InferredFailureHasItsMomentInJson) {
  const auto failure = nlohmann::json::parse(JsonFit(AnswerWithInferredMoment()))["first_failure"];
  EXPECT_EQ(failure["moment"], "evaluation");
  EXPECT_EQ(failure["known"], "inferred");
  EXPECT_EQ(failure["short_by"], uint64_t{100} << 20);
  EXPECT_TRUE(failure["line"].is_null() && failure["step"].is_null());
}

TEST(FitDocumentTest, FailureOnTheCardIsExactInJson) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  const auto failure = nlohmann::json::parse(JsonFit(answer))["first_failure"];
  EXPECT_EQ(failure["known"], "exact");
  EXPECT_TRUE(failure["moment"].is_null());
}

TEST(FitDocumentTest, HolderAtSeveralPlacesIsCounted) {
  EXPECT_THAT(AllOf(AnswerWithInferredMoment()),
              HasSubstr("activations, [0] and 12 other places: 300.0 MiB"));
}

TEST(FitDocumentTest, UntriedRemediesAreListedWithTheReason) {
  Answer answer = AnswerOf(RunOf(1200), RunOf(900));
  RunOut(answer.within);
  answer.untried = {
      {.name = "do not keep", .change = "move it to the host", .cost = "none", .package = ""},
      {.name = "8-bit optimizer", .change = "AdamW8bit", .cost = "", .package = "bitsandbytes"}};
  const std::string text = AllOf(answer);
  EXPECT_THAT(text, HasSubstr("NOT TRIED"));
  EXPECT_THAT(text, HasSubstr("It is a change of the script: move it to the host."));
  EXPECT_THAT(text, HasSubstr("bitsandbytes is not installed (pip install bitsandbytes)."));
  const auto json = nlohmann::json::parse(JsonFit(answer))["not_tried"];
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["why"], "edits_the_script");
  EXPECT_TRUE(json[0]["package"].is_null());
  EXPECT_EQ(json[1]["name"], "8-bit optimizer");
  EXPECT_EQ(json[1]["package"], "bitsandbytes");
}

TEST(FitDocumentTest, NothingIsUntriedIfAllRemediesWereRun) {
  EXPECT_THAT(AllOf(AnswerOf(RunOf(1200), RunOf(900))), Not(HasSubstr("NOT TRIED")));
}

TEST(FitDocumentTest, LargestValueIsNotClaimedIfNoneFailed) {
  Answer answer = AnswerOf(RunOf(600), RunOf(600));
  fit::Scaling& scaling = answer.scalings.emplace_back();
  scaling.name = "batch";
  scaling.points = {{.value = 1}, {.value = 2}};
  scaling.largest = 2048;
  EXPECT_THAT(AllOf(answer),
              HasSubstr("batch=2,048 fits the card as well. Larger values were not tried."));
  scaling.fails = 2049;
  EXPECT_THAT(AllOf(answer), HasSubstr("The largest value that fits the card is batch=2,048."));
}

}  // namespace
}  // namespace memtrace::report
