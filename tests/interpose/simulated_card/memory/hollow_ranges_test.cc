// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/hollow_ranges.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

class HollowRangesTest : public ::testing::Test {
 protected:
  // Returns the first ten granules, hollow ones as "x".
  std::string Contents() const {
    std::string text;
    for (std::uint64_t granule = 0; granule < 10; ++granule)
      text += ranges_.FirstIn(At(granule), 2_MiB) ? 'x' : '.';
    return text;
  }
  static Address At(std::uint64_t granule) { return AddressRanges::kBegin + granule * 2_MiB; }
  void Add(std::uint64_t granule, std::uint64_t count) { ranges_.Add(At(granule), count * 2_MiB); }
  void Remove(std::uint64_t granule, std::uint64_t count) {
    ranges_.Remove(At(granule), count * 2_MiB);
  }

  HollowRanges ranges_;
};

TEST_F(HollowRangesTest, ThereAreNoneAfterTheLastHasMemoryAgain) {
  EXPECT_FALSE(ranges_.AreAny());
  Add(2, 3);
  EXPECT_TRUE(ranges_.AreAny());
  Remove(2, 3);
  EXPECT_FALSE(ranges_.AreAny());
}

TEST_F(HollowRangesTest, RangesThatTouchAreOne) {
  Add(2, 1);
  Add(4, 1);
  Add(3, 1);
  EXPECT_EQ(Contents(), "..xxx.....");
  Remove(0, 10);
  EXPECT_FALSE(ranges_.AreAny());
}

TEST_F(HollowRangesTest, MiddleOfARangeIsMappedAgain) {
  Add(1, 6);
  Remove(3, 2);
  EXPECT_EQ(Contents(), ".xx..xx...");
  Remove(0, 2);
  Remove(6, 4);
  EXPECT_EQ(Contents(), "..x..x....");
}

TEST_F(HollowRangesTest, FirstHollowAddressOfARangeIsFound) {
  Add(3, 2);
  EXPECT_EQ(ranges_.FirstIn(At(0), 10 * 2_MiB), At(3));
  EXPECT_EQ(ranges_.FirstIn(At(4) + 8, 8), At(4) + 8);
  EXPECT_EQ(ranges_.FirstIn(At(0), 3 * 2_MiB), std::nullopt);
  EXPECT_EQ(ranges_.FirstIn(At(5), 2_MiB), std::nullopt);
}

}  // namespace
}  // namespace memtrace::card
