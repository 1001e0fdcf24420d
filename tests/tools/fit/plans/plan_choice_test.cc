// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/plan_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

using testing::Optional;

PlanFigures Figures(double needs, double time) {
  PlanFigures figures{.needs = {}, .time = time};
  figures.needs[0] = needs;
  return figures;
}

// Four layers of which each saves 10 and takes a tenth of a step; a slow change that saves 40; a
// change that saves 10 and takes no time; one that saves 90 and alters results.
PlanModel Model() {
  return {
      Figures(100, 1),
      {{.saves = {1, 2, 3, 4}, .takes = {1, 2, 3, 4}, .seen = {{4, Figures(60, 1.4)}}},
       {.conflicts = {0}, .seen = {{1, Figures(60, 2)}}},
       {.effort = 2, .seen = {{1, Figures(90, 1)}}},
       {.kind = 1, .effort = 3, .seen = {{1, Figures(10, 0.5)}}}}};
}

TEST(PlanChoiceTest, PlanOfLeastTimeThatIsPredictedToFitIsNext) {
  const PlanModel model = Model();
  PlanChoice choice(model, 75);
  EXPECT_THAT(choice.Next(3), Optional(Plan({2, 0, 1, 0})));
  EXPECT_THAT(choice.Next(1), Optional(Plan({3, 0, 0, 0})));
}

TEST(PlanChoiceTest, PlanThatAltersResultsIsNextOnlyIfNoOtherFits) {
  const PlanModel model = Model();
  PlanChoice choice(model, 45);
  EXPECT_THAT(choice.Next(3), Optional(Plan({0, 0, 0, 1})));
}

TEST(PlanChoiceTest, NothingIsBetterThanTheBestThatFits) {
  const PlanModel model = Model();
  PlanChoice choice(model, 75);
  choice.Note({2, 0, 1, 0}, true);
  EXPECT_EQ(choice.Next(3), std::nullopt);
  EXPECT_THAT(choice.Best(), Optional(Plan({2, 0, 1, 0})));
}

TEST(PlanChoiceTest, LesserPlanThanOneThatFailedFails) {
  const PlanModel model = Model();
  PlanChoice choice(model, 75);
  choice.Note({3, 0, 1, 0}, false);
  EXPECT_THAT(choice.Fits({2, 0, 1, 0}), Optional(false));
  EXPECT_THAT(choice.Fits({3, 0, 0, 0}), Optional(false));
  EXPECT_EQ(choice.Fits({4, 0, 0, 0}), std::nullopt);
  EXPECT_THAT(choice.Next(3), Optional(Plan({4, 0, 0, 0})));
}

TEST(PlanChoiceTest, EqualTimesAreDecidedByEffortThenByTheNumberOfChanges) {
  const PlanModel model(Figures(100, 1), {{.effort = 2, .seen = {{1, Figures(50, 1.001)}}},
                                          {.effort = 0, .seen = {{1, Figures(50, 1.004)}}},
                                          {.effort = 0, .seen = {{1, Figures(50, 1)}}}});
  PlanChoice choice(model, 60);
  choice.Note({0, 0, 1}, false);
  EXPECT_THAT(choice.Next(3), Optional(Plan({0, 1, 0})));
}

TEST(PlanChoiceTest, PlanThatNeedsLeastIsKnownThoughNoneFits) {
  const PlanModel model = Model();
  PlanChoice choice(model, 0);
  EXPECT_EQ(choice.Next(3), std::nullopt);
  EXPECT_THAT(choice.Smallest(1), Optional(Plan({0, 0, 0, 1})));
}

}  // namespace
}  // namespace memtrace::fit
