// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/clock_alignment.h"

#include <gtest/gtest.h>

namespace memtrace::cupti {
namespace {

// Two clocks that a test sets; each reading takes `reading_` of our time.
class ClockAlignmentTest : public testing::Test {
 protected:
  uint64_t ours_ = 1'000'000;
  uint64_t other_ = 0;
  uint64_t reading_ = 0;
  ClockAlignment alignment_{[this] { return ours_ += reading_; }, [this] { return other_; }};

  void AlignAt(uint64_t ours, uint64_t other) {
    ours_ = ours;
    other_ = other;
    alignment_.Align();
  }
};

TEST_F(ClockAlignmentTest, OnePairSetsTheOffsetOfTheClocks) {
  AlignAt(1'000'000, 500'000'000'000);
  EXPECT_EQ(alignment_.ToOurClock(500'000'000'000), 1'000'000U);
  EXPECT_EQ(alignment_.ToOurClock(500'000'000'700), 1'000'700U);
  EXPECT_EQ(alignment_.ToOurClock(499'999'999'300), 999'300U);
}

TEST_F(ClockAlignmentTest, TimesBetweenTwoPairsAreInterpolated) {
  AlignAt(1'000'000, 5'000'000);
  AlignAt(2'000'000, 7'000'000);  // twice as fast as ours
  EXPECT_EQ(alignment_.ToOurClock(6'000'000), 1'500'000U);
  EXPECT_EQ(alignment_.ToOurClock(5'200'000), 1'100'000U);
  EXPECT_EQ(alignment_.ToOurClock(7'000'100), 2'000'100U);  // after the last pair: as fast as ours
}

TEST_F(ClockAlignmentTest, TimesAreConvertedAfterTheClockWasSetBack) {
  AlignAt(1'000'000, 9'000'000);
  AlignAt(2'000'000, 4'000'000);
  EXPECT_EQ(alignment_.ToOurClock(4'000'050), 2'000'050U);
  EXPECT_EQ(alignment_.ToOurClock(9'000'050), 7'000'050U);  // either of two times is possible
}

TEST_F(ClockAlignmentTest, PairUsesTheMiddleOfTheSurroundingReadings) {
  reading_ = 100;
  AlignAt(1'000'000, 50);
  EXPECT_EQ(alignment_.ToOurClock(50), 1'000'150U);  // of the first reading, 1,000,100 to 1,000,200
}

TEST_F(ClockAlignmentTest, OldPairsAreForgotten) {
  for (uint64_t i = 0; i <= ClockAlignment::kPairs; ++i) AlignAt(1000 * i, 10'000 + 2000 * i);
  // The pair at (0, 10,000) is gone: 11,000 lies 1,000 before the one at (1000, 12,000).
  EXPECT_EQ(alignment_.ToOurClock(11'500), 500U);
}

}  // namespace
}  // namespace memtrace::cupti
