// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/activity_clock.h"

#include <gtest/gtest.h>

namespace memtrace::card {
namespace {

TEST(ActivityClockTest, WithoutASourceItUsesTheTimeOfDay) {
  const ActivityClock clock;
  const Moment before = clock.Now();
  const Moment after = clock.Now();
  EXPECT_GT(before.timestamp, 1'700'000'000'000'000'000u);
  EXPECT_GE(after.nanoseconds, before.nanoseconds);
}

TEST(ActivityClockTest, StatedSourceIsUsed) {
  ActivityClock clock;
  clock.Use([]() -> std::uint64_t { return 77; });
  EXPECT_EQ(clock.Now().timestamp, 77u);
}

TEST(ActivityClockTest, FutureTimeIsNow) {
  EXPECT_EQ(TimestampAfter({100, 0}, 10'000, {160, 6'000}), 160u);
}

TEST(ActivityClockTest, PastTimeIsScaledToTheSourcesUnits) {
  EXPECT_EQ(TimestampAfter({100, 0}, 10'000, {500, 40'000}), 200u);
}

TEST(ActivityClockTest, BackwardsSourceGivesNow) {
  EXPECT_EQ(TimestampAfter({100, 0}, 10'000, {90, 40'000}), 90u);
}

}  // namespace
}  // namespace memtrace::card
