// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/value_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Runs values until the search is over, on a card that `largest` fits; returns them in order.
std::vector<uint64_t> RunAll(ValueBounds& bounds, uint64_t largest) {
  std::vector<uint64_t> ran;
  while (const std::optional<uint64_t> value = bounds.Next()) {
    if (ran.size() > 100) break;
    ran.push_back(*value);
    bounds.NoteRun(*value, *value <= largest);
  }
  return ran;
}

TEST(ValueBoundsTest, TrueGuessTakesTwoRuns) {
  ValueBounds bounds(50, 1000);
  EXPECT_THAT(RunAll(bounds, 50), ElementsAre(50, 51));
  EXPECT_EQ(bounds.largest(), 50U);
  EXPECT_EQ(bounds.fails(), 51U);
}

TEST(ValueBoundsTest, NeighbourOfTheGuessTakesTwoRuns) {
  ValueBounds bounds(50, 1000);
  EXPECT_THAT(RunAll(bounds, 49), ElementsAre(50, 49));
}

TEST(ValueBoundsTest, EveryLargestValueIsFoundAndProven) {
  for (uint64_t largest = 1; largest < 64; ++largest) {
    for (uint64_t guess = 1; guess <= 64; ++guess) {
      ValueBounds bounds(guess, 64);
      const std::vector<uint64_t> ran = RunAll(bounds, largest);
      EXPECT_EQ(bounds.largest(), largest);
      EXPECT_EQ(bounds.fails(), largest + 1);
      EXPECT_THAT(ran, testing::IsSupersetOf({largest, largest + 1}));
      EXPECT_LE(ran.size(), 12U) << largest << ", guessed as " << guess;
    }
  }
}

TEST(ValueBoundsTest, ExpectationIsRunBeforeItIsAnAnswer) {
  ValueBounds bounds(9, 1000);
  bounds.ExpectToFit(4);
  EXPECT_THAT(RunAll(bounds, 4), ElementsAre(9, 8, 6, 5, 4));
  EXPECT_EQ(bounds.largest(), 4U);
}

TEST(ValueBoundsTest, RefutedExpectationsAreForgotten) {
  ValueBounds small(9, 1000);
  small.ExpectToFit(4);
  RunAll(small, 2);
  EXPECT_EQ(small.largest(), 2U);
  EXPECT_EQ(small.fails(), 3U);
  ValueBounds large(9, 1000);
  large.ExpectToFail(20);
  RunAll(large, 30);
  EXPECT_EQ(large.largest(), 30U);
  EXPECT_EQ(large.fails(), 31U);
}

TEST(ValueBoundsTest, GuessThatIsFarTooLargeTakesFewRuns) {
  ValueBounds bounds(uint64_t{1} << 24, uint64_t{1} << 24);
  bounds.ExpectToFit(4);
  EXPECT_THAT(RunAll(bounds, 9), SizeIs(testing::Le(12U)));
  EXPECT_EQ(bounds.largest(), 9U);
}

TEST(ValueBoundsTest, NothingFailsIfTheLastValueFits) {
  ValueBounds bounds(7, 100);
  RunAll(bounds, 1000);
  EXPECT_EQ(bounds.largest(), 100U);
  EXPECT_EQ(bounds.fails(), std::nullopt);
}

TEST(ValueBoundsTest, NothingFitsIfTheFirstValueFails) {
  ValueBounds bounds(7, 100);
  RunAll(bounds, 0);
  EXPECT_EQ(bounds.largest(), std::nullopt);
  EXPECT_EQ(bounds.fails(), 1U);
}

}  // namespace
}  // namespace memtrace::fit
