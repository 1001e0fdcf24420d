// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/size_bins.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(SizeBinsTest, BinsAreMonotonicInSize) {
  size_t last = 0;
  for (Bytes size = 0; size < 4_MiB; size += 512) {
    ASSERT_GE(BinOf(size), last) << size;
    ASSERT_LE(BinOf(size) - last, 1u) << size;  // no bin is skipped
    last = BinOf(size);
  }
  for (Bytes size = 4_MiB; size < 16_GiB * 1024; size += size / 77) {
    ASSERT_GE(BinOf(size), last) << size;
    last = BinOf(size);
  }
  EXPECT_EQ(BinOf(~Bytes{0}), kSizeBins - 1);
}

TEST(SizeBinsTest, BinWidthIsAThirtySecondOfItsSize) {
  for (Bytes size = 16_KiB; size < 8192_GiB; size *= 2) {
    EXPECT_EQ(BinOf(size), BinOf(size + size / 32 - 1)) << size;
    EXPECT_NE(BinOf(size), BinOf(size + size / 32)) << size;
  }
}

TEST(SizeBinsTest, NextAndLastBinsAreFound) {
  BinSet set;
  EXPECT_EQ(set.Next(0), BinSet::kNone);
  EXPECT_EQ(set.Last(), BinSet::kNone);
  for (const size_t bin : {size_t{3}, size_t{63}, size_t{64}, kSizeBins - 1}) set.Add(bin);
  EXPECT_EQ(set.Next(0), 3u);
  EXPECT_EQ(set.Next(4), 63u);
  EXPECT_EQ(set.Next(64), 64u);
  EXPECT_EQ(set.Next(65), kSizeBins - 1);
  EXPECT_EQ(set.Last(), kSizeBins - 1);
  set.Remove(kSizeBins - 1);
  EXPECT_EQ(set.Next(65), BinSet::kNone);
  EXPECT_EQ(set.Next(kSizeBins), BinSet::kNone);
  EXPECT_EQ(set.Last(), 64u);
}

}  // namespace
}  // namespace memtrace
