// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/degree_bracket.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

// Returns the number of runs until the least degree that fits is known, if a model always predicts
// `predicted`.
int RunsUntilClosed(uint32_t least, uint32_t predicted) {
  DegreeBracket bracket(0, 32);
  int runs = 0;
  for (; !bracket.is_closed(); ++runs) {
    const uint32_t degree = bracket.Next(predicted);
    bracket.Note(degree, degree >= least);
  }
  EXPECT_EQ(bracket.fits(), least);
  EXPECT_EQ(bracket.fails(), least - 1);
  return runs;
}

TEST(DegreeBracketTest, RightPredictionIsProvenInTwoRuns) { EXPECT_EQ(RunsUntilClosed(18, 18), 2); }

TEST(DegreeBracketTest, PredictionThatIsOneOffTakesThreeRuns) {
  EXPECT_EQ(RunsUntilClosed(18, 17), 2);
  EXPECT_LE(RunsUntilClosed(18, 19), 3);
}

TEST(DegreeBracketTest, WrongPredictionIsLittleWorseThanBisection) {
  for (uint32_t least = 1; least <= 32; ++least)
    for (uint32_t predicted = 1; predicted <= 32; ++predicted)
      EXPECT_LE(RunsUntilClosed(least, predicted), 8) << least << " " << predicted;
}

}  // namespace
}  // namespace memtrace::fit
