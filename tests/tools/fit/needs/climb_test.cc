// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/climb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a training's first two steps, then `bytes` more at each of `steps`.
std::vector<PeakRise> RisesAt(const std::vector<uint64_t>& steps, uint64_t bytes = 10) {
  std::vector<PeakRise> rises = {{.step = 1, .bytes = 1000}, {.step = 2, .bytes = 1500}};
  for (const uint64_t step : steps)
    rises.push_back({.step = step, .bytes = rises.back().bytes + bytes});
  return rises;
}

TEST(ClimbTest, RisesOfOneCardAreReadFromTheAnnotation) {
  EXPECT_THAT(RisesOf("[[1,[5,7]],[2,[5,9]],[4,[6,9]]]", 1),
              ElementsAre(PeakRise{1, 7}, PeakRise{2, 9}));
}

TEST(ClimbTest, InvalidTextHasNoRises) {
  for (const char* text : {"", "{}", "[1]", "[[1,[-5]]]", "[[1]]"})
    EXPECT_THAT(RisesOf(text, 0), IsEmpty()) << text;
}

TEST(ClimbTest, RiseInEachStepIsAClimb) {
  const auto climb = ClimbOf(RisesAt({3, 4, 5, 6}), 6);
  ASSERT_TRUE(climb);
  EXPECT_EQ(climb->bytes, 10U);
  EXPECT_EQ(climb->every, 1U);
  EXPECT_EQ(climb->times, 4U);
}

TEST(ClimbTest, RiseAtEveryTenthStepIsAClimb) {
  const auto climb = ClimbOf(RisesAt({12, 22, 32}), 34);
  ASSERT_TRUE(climb);
  EXPECT_EQ(climb->every, 10U);
}

TEST(ClimbTest, CardIsFullInTheFirstStepBeyondTheFreeBytes) {
  const auto climb = ClimbOf(RisesAt({3, 4, 5, 6}), 6);
  ASSERT_TRUE(climb);
  EXPECT_EQ(climb->StepBeyond(25), 9U);  // steps 7 and 8 take 20 of it
  EXPECT_EQ(climb->StepBeyond(0), 7U);
}

TEST(ClimbTest, FirstTwoStepsAreNotAClimb) {
  EXPECT_FALSE(ClimbOf(RisesAt({}), 2));
  EXPECT_FALSE(ClimbOf(RisesAt({3}), 3));
}

TEST(ClimbTest, SteadyPeakIsNotAClimb) { EXPECT_FALSE(ClimbOf(RisesAt({3, 4, 5}), 30)); }

TEST(ClimbTest, WhatStaysClimbsAfterFourAlikeGains) {
  const std::vector<PeakRise> floors = FloorsOf("[[2,[0]],[3,[10]],[4,[20]],[5,[31]],[6,[40]]]", 0);
  ASSERT_EQ(floors.size(), 5U);
  EXPECT_FALSE(FloorClimbOf({floors.begin(), floors.end() - 1}, 5));
  const auto climb = FloorClimbOf(floors, 6);
  ASSERT_TRUE(climb);
  EXPECT_TRUE(climb->is_of_floor);
  EXPECT_EQ(climb->bytes, 10U);
  EXPECT_EQ(climb->StepBeyond(25), 9U);
  EXPECT_FALSE(FloorClimbOf(floors, 9));  // it is over
}

TEST(ClimbTest, WhatStaysAndVariesIsNotAClimb) {
  EXPECT_FALSE(
      FloorClimbOf(FloorsOf("[[2,[0]],[3,[500]],[9,[540]],[11,[900]],[12,[907]]]", 0), 12));
}

TEST(ClimbTest, UnequalRisesAreNotAClimb) {
  std::vector<PeakRise> rises = RisesAt({3, 4});
  rises.push_back({.step = 5, .bytes = rises.back().bytes + 700});
  EXPECT_FALSE(ClimbOf(rises, 5));
  EXPECT_TRUE(RoseInLastStep(rises, 5));
}

}  // namespace
}  // namespace memtrace::fit
