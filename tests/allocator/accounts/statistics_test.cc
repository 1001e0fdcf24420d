// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/statistics.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(StatisticTest, PeakSurvivesAFreeAndResetsToCurrent) {
  Statistic bytes;
  bytes.Add(100);
  bytes.Add(-60);
  EXPECT_EQ(bytes.current, 40);
  EXPECT_EQ(bytes.peak, 100);
  EXPECT_EQ(bytes.allocated, 100);
  EXPECT_EQ(bytes.freed, 60);
  bytes.ResetPeak();
  EXPECT_EQ(bytes.peak, 40);
}

TEST(StatisticByPoolTest, EachAmountCountsInItsPoolAndInAll) {
  StatisticByPool blocks;
  blocks.Add(/*small=*/true, 1);
  blocks.Add(/*small=*/false, 1);
  blocks.Add(/*small=*/false, 1);
  EXPECT_EQ(blocks.all.current, 3);
  EXPECT_EQ(blocks.small_pool.current, 1);
  EXPECT_EQ(blocks.large_pool.current, 2);
}

}  // namespace
}  // namespace memtrace
