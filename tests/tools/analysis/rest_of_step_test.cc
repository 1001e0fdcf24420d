// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/rest_of_step.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using trace::Phase;
using trace::Role;

// AdamW with 100 bytes of parameters on card 1: 200 bytes of states and a copy of 100.
class RestOfStepTest : public testing::Test {
 protected:
  RestOfStepTest() {
    failed_.event.device = 1;
    failed_.event.requested = 10;
    failed_.at.phase = Phase::kOptimizer;
    failed_.annotations = {{"optimizer.trained_bytes.1", "100"},
                           {"optimizer.states_to_make.1", "200"},
                           {"optimizer.copy_to_make.1", "100"},
                           {"optimizer.states_to_make.0", "7000"}};
  }
  void Hold(Role role, uint64_t bytes) {
    held_.by_role.push_back({.name = std::string(RoleName(role)), .bytes = bytes, .known = {}});
    held_.holdings.push_back(
        {.role = role, .site = "", .owner = "", .bytes = bytes, .known = {}, .since = {}});
  }
  RestOfStep Foreseen() { return PredictRestOfStep(failed_, held_, copy_); }

  FailedRequest failed_;
  Breakdown held_;
  std::optional<ForeachCopy> copy_;
};

TEST_F(RestOfStepTest, MissingStatesAndTheirCopyAreStillToCome) {
  Hold(Role::kOptimizerState, 80);
  const RestOfStep rest = Foreseen();
  EXPECT_EQ(rest.source, NeedSource::kOptimizer);
  EXPECT_EQ(rest.optimizer.states, 120U);
  EXPECT_EQ(rest.optimizer.states_made, 80U);
  EXPECT_EQ(rest.rise, 220U);
  EXPECT_FALSE(rest.at_least);
}

TEST_F(RestOfStepTest, ForwardStillNeedsGradientsInPlaceOfItsActivations) {
  failed_.at.phase = Phase::kForward;
  Hold(Role::kActivation, 150);
  Hold(Role::kGradient, 40);
  const RestOfStep rest = Foreseen();
  EXPECT_EQ(rest.optimizer.gradients, 60U);
  EXPECT_EQ(rest.rise, 60U + 200U + 100U - 150U);
  EXPECT_TRUE(rest.at_least);
}

// The fp32 copy of the logits of 2 x 50 tokens and 1,000 words: the loss allocates as much again.
TEST_F(RestOfStepTest, LossTakesTwiceItsCopyOfTheLogits) {
  failed_.at.phase = Phase::kForward;
  failed_.annotations["forward.vocabulary"] = "1000";
  failed_.annotations["forward.sequence"] = "50";
  failed_.annotations["forward.batch"] = "2";
  failed_.event.requested = 400000;
  EXPECT_EQ(Foreseen().rise, 800000U);
  failed_.event.requested = 400001;
  EXPECT_EQ(Foreseen().rise, 400001U);
  failed_.event.requested = 400000;
  failed_.at.phase = Phase::kEvaluate;
  EXPECT_EQ(Foreseen().rise, 400000U);
}

TEST_F(RestOfStepTest, ForwardWithAllStatesPredictsNothing) {
  failed_.at.phase = Phase::kForward;
  Hold(Role::kOptimizerState, 200);
  EXPECT_FALSE(Foreseen().rise.has_value());
}

TEST_F(RestOfStepTest, FinishedPartOfACopyIsNotStillToCome) {
  Hold(Role::kOptimizerState, 200);
  copy_ = ForeachCopy{.optimizer = "AdamW", .copy_bytes = 100, .made_bytes = 70};
  EXPECT_EQ(Foreseen().rise, 30U);
  EXPECT_EQ(Foreseen().source, NeedSource::kForeachCopy);
}

TEST_F(RestOfStepTest, UnknownOptimizerPredictsNothing) {
  failed_.annotations["optimizer.states_to_make.1"] = "unknown";
  failed_.annotations["optimizer.state_bytes"] = "200";
  EXPECT_FALSE(Foreseen().rise.has_value());
}

TEST_F(RestOfStepTest, RestOfAModelBeingMovedIsALowerBound) {
  failed_.at.phase = Phase::kInit;
  failed_.annotations = {{"placing.to_come.1", "300"}, {"placing.to_come.0", "7000"}};
  const RestOfStep rest = Foreseen();
  EXPECT_EQ(rest.source, NeedSource::kPlacement);
  EXPECT_EQ(rest.rise, 300U);
  EXPECT_TRUE(rest.at_least);
}

TEST_F(RestOfStepTest, RiseWithLessToComeIsAtLeastTheRequest) {
  failed_.at.phase = Phase::kForward;
  Hold(Role::kActivation, 50);
  const RestOfStep rest = Foreseen();
  EXPECT_EQ(rest.RiseWith({.gradients = 100}), 50U);
  EXPECT_EQ(rest.RiseWith({}), 10U);
}

TEST_F(RestOfStepTest, PreviousStepTakesPrecedence) {
  failed_.rise_of_previous_step = 50;
  EXPECT_EQ(Foreseen().rise, 50U);
  EXPECT_EQ(Foreseen().source, NeedSource::kPreviousStep);
}

TEST_F(RestOfStepTest, FirstStepPredictsTheSecondIfItsRiseIsUnused) {
  failed_.at.phase = Phase::kBackward;
  failed_.at.step = 2;
  failed_.rise_of_same_request = 30;
  const RestOfStep unknown;
  const RestOfStep rest = PredictFromFirstStep(unknown, failed_, 30);
  EXPECT_EQ(rest.source, NeedSource::kPreviousStep);
  EXPECT_EQ(rest.rise, 30U);
  EXPECT_FALSE(rest.at_least);
  EXPECT_FALSE(PredictFromFirstStep(unknown, failed_, 29).rise.has_value());
  failed_.at.step = 3;
  EXPECT_FALSE(PredictFromFirstStep(unknown, failed_, 30).rise.has_value());
}

TEST_F(RestOfStepTest, MicroBatchNeedsTheLargerOfThePreviousOneAndTheOptimizer) {
  failed_.rise_of_micro_batch = 500;
  EXPECT_EQ(Foreseen().rise, 500U);
  failed_.rise_of_micro_batch = 50;
  EXPECT_EQ(Foreseen().rise, 300U);
  EXPECT_EQ(Foreseen().source, NeedSource::kPreviousMicroBatch);
}

TEST_F(RestOfStepTest, RiseIsAtLeastTheRequest) {
  failed_.event.requested = 1000;
  EXPECT_EQ(Foreseen().rise, 1000U);
}

}  // namespace
}  // namespace memtrace::analysis
