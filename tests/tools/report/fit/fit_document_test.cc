// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/report/fit/fit_answers.h"
#include "tools/fit/changes/candidates.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/fit/remedy_sections.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Outcome;
using testing::HasSubstr;
using testing::Not;

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
  for (fit::Candidate& candidate : fit::AllCandidates()) {
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

// A run that needed `mib` MiB, whose step is estimated to take a millisecond.
Outcome TimedRunOf(uint64_t mib) {
  Outcome outcome = RunOf(mib);
  outcome.processes[0].time =
      fit::StepTime{.parts = {{.phase = "forward", .card = 1000, .host = 0}}, .unknown = {}};
  return outcome;
}

// An answer in which the only change that was run has this hook.
Answer AnswerWithChange(const std::string& hook) {
  Answer answer = AnswerOf(TimedRunOf(1200), RunOf(900));
  RunOut(answer.within);
  answer.reference = TimedRunOf(1200);
  answer.cheapest.emplace();
  for (const fit::Candidate& candidate : fit::AllCandidates())
    if (candidate.hook == hook)
      answer.remedies.push_back({.changes = {candidate}, .outcome = TimedRunOf(700)});
  return answer;
}

TEST(FitDocumentTest, FrontierSaysWhichRunTakesAnotherCard) {
  const Answer moved = AnswerWithChange("second_card");
  EXPECT_THAT(AllOf(moved), HasSubstr("takes another card"));
  EXPECT_THAT(AllOf(moved), Not(HasSubstr("may change results")));
  const auto points = nlohmann::json::parse(JsonFit(moved))["frontier"];
  ASSERT_EQ(points.size(), 2U);
  for (const auto& point : points) {
    EXPECT_EQ(point["takes_another_card"], !point["changes"].empty());
    EXPECT_EQ(point["may_change_results"], false);
  }
  EXPECT_THAT(AllOf(AnswerWithChange("lora")), HasSubstr("may change results"));
  EXPECT_THAT(AllOf(AnswerWithChange("lora")), Not(HasSubstr("takes another card")));
}

TEST(FitDocumentTest, LessWorkWithoutATimeIsNamedBesideThePlan) {
  Answer answer = AnswerWithChange("pieces");
  for (const fit::Candidate& candidate : fit::AllCandidates())
    if (candidate.hook == "liger")
      answer.remedies.push_back({.changes = {candidate}, .outcome = RunOf(300)});
  answer.cheapest->plan = 0;
  answer.recommended = 0;
  const std::string named = "Liger's kernels: fits as well, with 300.0 MiB reserved, and is less";
  EXPECT_THAT(AllOf(answer), HasSubstr(named));
  answer.remedies[1].outcome = TimedRunOf(300);  // the plan was chosen with its time known
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("fits as well, with")));
  answer.remedies[1].outcome = RunOf(1100);
  RunOut(answer.remedies[1].outcome);
  EXPECT_THAT(AllOf(answer), Not(HasSubstr("fits as well, with")));
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
