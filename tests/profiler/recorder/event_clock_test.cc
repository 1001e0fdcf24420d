// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/event_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace memtrace::recorder {
namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

// Other programs may run between two readings; but a wrong rate would amount to much more.
constexpr std::chrono::milliseconds kTolerance{20};

TEST(EventClockTest, FollowsTheMonotonicClockAndNeverGoesBack) {
  EventClock clock;
  const Clock::time_point began = Clock::now();
  uint64_t last = 0;
  while (Clock::now() - began < std::chrono::milliseconds(300)) {
    const auto before = Clock::now() - began;
    const std::chrono::nanoseconds now{clock.Now()};
    const auto after = Clock::now() - began;
    ASSERT_GE(now + kTolerance, before);
    ASSERT_LE(now, after + kTolerance);
    ASSERT_GE(static_cast<uint64_t>(now.count()), last);
    last = static_cast<uint64_t>(now.count());
  }
  EXPECT_GT(last, 250'000'000U);
}

TEST(EventClockTest, PauseIsMeasuredInFull) {
  EventClock clock;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = clock.Now();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_GE(clock.Now() - before, 29'000'000U);
  }
}

}  // namespace
}  // namespace memtrace::recorder
