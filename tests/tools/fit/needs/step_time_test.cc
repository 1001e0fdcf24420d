// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/step_time.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

// A step of 5 s on a card, whose optimizer takes the host longer than the card.
analysis::Annotations Step() {
  return {{"fit.step.card_us.forward", "1000000"},
          {"fit.step.host_us.forward", "500000"},
          {"fit.step.card_us.backward", "3000000"},
          {"fit.step.host_us.backward", "100000"},
          {"fit.step.card_us.optimizer", "200000"},
          {"fit.step.host_us.optimizer", "700000"},
          {"fit.step.bus_us", "300000"},
          {"fit.step.launches", "1000"},
          {"fit.times.source", "measured"},
          {"fit.times.unknown", R"(["mine::kernel"])"}};
}

TEST(StepTimeTest, LongerOfCardAndHostCountsInEachPart) {
  const auto time = StepTimeOf(Step());
  ASSERT_TRUE(time.has_value());
  EXPECT_DOUBLE_EQ(time->seconds(), 1 + 3 + 0.7 + 0.3);
  EXPECT_TRUE(time->is_measured);
  EXPECT_FALSE(time->is_bound_by_launches());
  EXPECT_EQ(time->unknown, std::vector<std::string>{"mine::kernel"});
}

TEST(StepTimeTest, SendingCountsBeyondTheCardsWork) {
  analysis::Annotations step = Step();
  step["fit.step.link_us"] = "4000000";
  EXPECT_DOUBLE_EQ(StepTimeOf(step)->seconds(), 5.0);
  step["fit.step.link_us"] = "6000000";
  EXPECT_DOUBLE_EQ(StepTimeOf(step)->seconds(), 6.3);
}

TEST(StepTimeTest, TraceWithoutStepHasNoTime) {
  EXPECT_FALSE(StepTimeOf({{"fit.step.kernel_launches", "7"}}).has_value());
}

TEST(StepTimeTest, RatioIsOfLaterToEarlier) {
  analysis::Annotations slower = Step();
  slower["fit.step.card_us.forward"] = "3500000";
  EXPECT_DOUBLE_EQ(*TimeRatio(StepTimeOf(Step()), StepTimeOf(slower)), 1.5);
}

TEST(StepTimeTest, StepWithManyUncountedKernelsHasNoRatio) {
  analysis::Annotations compiled = Step();
  compiled["fit.step.outside"] = "101";
  EXPECT_FALSE(StepTimeOf(compiled)->is_whole());
  EXPECT_FALSE(TimeRatio(StepTimeOf(Step()), StepTimeOf(compiled)).has_value());
  EXPECT_FALSE(TimeRatio(StepTimeOf(Step()), std::nullopt).has_value());
}

}  // namespace
}  // namespace memtrace::fit
