// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/plan_model.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

constexpr size_t kForward = static_cast<size_t>(trace::Phase::kForward);
constexpr size_t kOptimizer = static_cast<size_t>(trace::Phase::kOptimizer);

PlanFigures Figures(double forward, double optimizer, double time) {
  PlanFigures figures{.needs = {}, .time = time};
  figures.needs[kForward] = forward;
  figures.needs[kOptimizer] = optimizer;
  return figures;
}

// Checkpointing of 4 layers, a fused optimizer, and another allocator.
PlanModel ModelOfTwo() {
  return {Figures(100, 80, 1),
          {{.saves = {1, 2, 3, 4}, .takes = {1, 2, 3, 4}, .seen = {{4, Figures(60, 80, 1.4)}}},
           {.seen = {{1, Figures(100, 70, 0.9)}}},
           {.changes_allocator = true, .seen = {{1, Figures(100, 80, 1)}}}}};
}

TEST(PlanModelTest, DegreesBetweenAreLinear) {
  const PlanFigures half = ModelOfTwo().At({2, 0, 0});
  EXPECT_DOUBLE_EQ(half.needs[kForward], 80);
  EXPECT_DOUBLE_EQ(half.time, 1.2);
}

TEST(PlanModelTest, SavingsAddUpInEachPhaseAndTimesMultiply) {
  const PlanFigures both = ModelOfTwo().At({4, 1, 0});
  EXPECT_DOUBLE_EQ(both.needs[kForward], 60);
  EXPECT_DOUBLE_EQ(both.needs[kOptimizer], 70);
  EXPECT_DOUBLE_EQ(both.time, 1.4 * 0.9);
  EXPECT_DOUBLE_EQ(both.most(), 70);
}

TEST(PlanModelTest, DegreeThatWasSeenBendsTheLine) {
  PlanModel model = ModelOfTwo();
  model.Saw({2, 0, 0}, Figures(70, 80, 1.2));
  EXPECT_DOUBLE_EQ(model.At({1, 0, 0}).needs[kForward], 85);
  EXPECT_DOUBLE_EQ(model.At({3, 0, 0}).needs[kForward], 65);
}

TEST(PlanModelTest, DegreesBeyondTheOneSeenAreOnTheSameLine) {
  const PlanModel model(
      Figures(100, 0, 1),
      {{.saves = {0.5, 0.75}, .takes = {1, 3}, .seen = {{1, Figures(60, 0, 1.1)}}}});
  EXPECT_DOUBLE_EQ(model.At({2}).needs[kForward], 40);
  EXPECT_DOUBLE_EQ(model.At({2}).time, 1.3);
}

TEST(PlanModelTest, FailureCorrectsAllDegreesOfItsSet) {
  PlanModel model = ModelOfTwo();
  model.Failed({2, 0, 0}, kForward, 90);
  EXPECT_DOUBLE_EQ(model.At({2, 0, 0}).needs[kForward], 90);
  EXPECT_DOUBLE_EQ(model.At({3, 0, 0}).needs[kForward], 80);
  EXPECT_DOUBLE_EQ(model.At({2, 1, 0}).needs[kForward], 90);
  EXPECT_DOUBLE_EQ(model.At({0, 1, 0}).needs[kForward], 100);
}

TEST(PlanModelTest, HolesOfOneAllocatorAreNotThoseOfAnother) {
  PlanModel model = ModelOfTwo();
  model.Failed({0, 0, 0}, kForward, 110);
  EXPECT_DOUBLE_EQ(model.At({2, 0, 0}).needs[kForward], 90);
  EXPECT_DOUBLE_EQ(model.At({2, 0, 1}).needs[kForward], 80);
}

TEST(PlanModelTest, RunOfASetCorrectsTheSet) {
  PlanModel model = ModelOfTwo();
  model.Saw({4, 1, 0}, Figures(64, 70, 1.3));
  EXPECT_DOUBLE_EQ(model.At({4, 1, 0}).time, 1.3);
  EXPECT_DOUBLE_EQ(model.At({2, 1, 0}).needs[kForward], 84);
}

TEST(PlanModelTest, PlanContainsWhatItMakesInALesserDegree) {
  EXPECT_TRUE(Contains({3, 1}, {2, 0}));
  EXPECT_FALSE(Contains({3, 1}, {4, 0}));
  EXPECT_EQ(SizeOf({3, 0, 1}), 2U);
}

}  // namespace
}  // namespace memtrace::fit
