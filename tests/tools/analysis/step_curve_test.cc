// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/step_curve.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

// A step that starts at `level`, allocates 10, frees it, and allocates 30 and 20. The stack of each
// is a tenth of its size.
void Step(StepCurve& curve, uint64_t number, uint64_t level) {
  curve.BeginStep(number);
  curve.Allocated(10 / 10, 10, level);
  curve.Allocated(30 / 10, 30, level);
  curve.Allocated(20 / 10, 20, level + 30);
}

TEST(StepCurveTest, RestOfThePreviousStepIsTheNeedOfThisOne) {
  StepCurve curve;
  Step(curve, 2, 100);
  curve.BeginStep(3);
  EXPECT_EQ(curve.RiseFrom(10), 50U);
  curve.Allocated(10 / 10, 10, 500);
  EXPECT_EQ(curve.RiseFrom(30), 50U);
  curve.Allocated(30 / 10, 30, 500);
  EXPECT_EQ(curve.RiseFrom(20), 20U);
}

TEST(StepCurveTest, DifferingStepPredictsNothing) {
  StepCurve curve;
  Step(curve, 2, 100);
  curve.BeginStep(3);
  EXPECT_EQ(curve.RiseFrom(11), std::nullopt);
}

TEST(StepCurveTest, FirstStepDoesNotPredictTheSecond) {
  StepCurve curve;
  Step(curve, 1, 100);
  curve.BeginStep(2);
  EXPECT_EQ(curve.RiseFrom(10), std::nullopt);
}

TEST(StepCurveTest, NothingIsKnownBeyondTheEndOfThePreviousStep) {
  StepCurve curve;
  Step(curve, 2, 100);
  Step(curve, 3, 100);
  EXPECT_EQ(curve.RiseFrom(10), std::nullopt);
}

// The second step has another allocation before it.
TEST(StepCurveTest, SameRequestIsFoundByStackAndSize) {
  StepCurve curve;
  Step(curve, 1, 100);
  curve.BeginStep(2);
  curve.Allocated(7, 10, 500);
  EXPECT_EQ(curve.RiseFromSameRequest(3, 30), 50U);
  EXPECT_EQ(curve.RiseFromSameRequest(1, 10), 50U);
  EXPECT_EQ(curve.RiseFromSameRequest(7, 30), std::nullopt);
  EXPECT_EQ(curve.RiseFromSameRequest(3, 31), std::nullopt);
}

TEST(StepCurveTest, EqualRequestsAreMatchedByOrdinal) {
  StepCurve curve;
  curve.BeginStep(1);
  for (const uint64_t level : {100U, 130U, 160U}) curve.Allocated(3, 30, level);
  curve.BeginStep(2);
  curve.Allocated(3, 30, 500);
  EXPECT_EQ(curve.RiseFromSameRequest(3, 30), 60U);
  curve.Allocated(3, 30, 530);
  curve.Allocated(3, 30, 560);
  EXPECT_EQ(curve.RiseFromSameRequest(3, 30), std::nullopt);
}

}  // namespace
}  // namespace memtrace::analysis
