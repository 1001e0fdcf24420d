// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/pool_numbers.h"

#include <gtest/gtest.h>

namespace memtrace::recorder {
namespace {

TEST(PoolNumbersTest, PoolsAreNumberedAsTheyAppearAndTheDefaultIsZero) {
  PoolNumbers numbers;
  EXPECT_EQ(numbers.Of({7, 1}), 1U);
  EXPECT_EQ(numbers.Of({}), 0U);
  EXPECT_EQ(numbers.Of({0, 7}), 2U);
  EXPECT_EQ(numbers.Of({7, 0}), 3U);
  EXPECT_EQ(numbers.Of({7, 1}), 1U);
}

TEST(PoolNumbersTest, PoolBeyondTheLimitCountsAsTheDefault) {
  PoolNumbers numbers;
  for (uint64_t pool = 1; pool <= PoolNumbers::kMaxPools; ++pool) {
    ASSERT_EQ(numbers.Of({0, pool}), pool);
  }
  EXPECT_EQ(numbers.Of({1, 0}), 0U);
  EXPECT_EQ(numbers.Of({0, 5}), 5U);
}

}  // namespace
}  // namespace memtrace::recorder
