// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/volume_copy.h"

#include <gtest/gtest.h>

#include <limits>

namespace memtrace::card {
namespace {

VolumeCopy Box(std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
  VolumeCopy copy;
  copy.to.base = Address{1000};
  copy.from.base = Address{5000};
  copy.width = width;
  copy.height = height;
  copy.depth = depth;
  return copy;
}

TEST(VolumeCopyTest, UnspecifiedSizesAreMinimal) {
  VolumeCopy copy = Box(4, 3, 2);
  copy.from.x = 1;
  copy.from.y = 2;
  ASSERT_EQ(Complete(&copy), Result::kSuccess);
  EXPECT_EQ(copy.to.pitch, 4u);
  EXPECT_EQ(copy.to.height, 3u);
  EXPECT_EQ(copy.from.pitch, 5u);
  EXPECT_EQ(copy.from.height, 5u);
}

TEST(VolumeCopyTest, RowsAreFoundByPitchHeightAndPosition) {
  VolumeCopy copy = Box(4, 3, 2);
  constexpr std::uint64_t kRow = 16;
  constexpr std::uint64_t kSlice = 10 * kRow;
  copy.to = {.base = Address{1000}, .pitch = 16, .height = 10, .x = 2, .y = 1, .z = 3};
  ASSERT_EQ(Complete(&copy), Result::kSuccess);
  EXPECT_EQ(RowOf(copy.to, 0, 0), Address{1000} + 3 * kSlice + 1 * kRow + 2);
  EXPECT_EQ(RowOf(copy.to, 2, 1), Address{1000} + 4 * kSlice + 3 * kRow + 2);
}

TEST(VolumeCopyTest, RowsBeyondTheirPitchOrSliceAreRejected) {
  VolumeCopy wide = Box(4, 3, 2);
  wide.from = {.base = Address{5000}, .pitch = 4, .x = 1};
  EXPECT_EQ(Complete(&wide), Result::kInvalidValue);
  VolumeCopy high = Box(4, 3, 2);
  high.to = {.base = Address{1000}, .height = 3, .y = 1};
  EXPECT_EQ(Complete(&high), Result::kInvalidValue);
}

TEST(VolumeCopyTest, NoArithmeticOverflows) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  VolumeCopy wide = Box(kLargest, 1, 1);
  EXPECT_EQ(Complete(&wide), Result::kInvalidValue);
  VolumeCopy deep = Box(1, 1ull << 40, 1ull << 40);
  EXPECT_EQ(Complete(&deep), Result::kInvalidValue);
  VolumeCopy far = Box(1, 1, 1);
  far.to.z = kLargest;
  EXPECT_EQ(Complete(&far), Result::kInvalidValue);
}

}  // namespace
}  // namespace memtrace::card
