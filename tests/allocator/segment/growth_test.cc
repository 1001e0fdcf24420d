// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/growth.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr Bytes kGrowthGranule = 2_MiB;
constexpr DeviceAddress kGrowthStart{uint64_t{1} << 40};

// Growths of a hole of ten granules, counted in granules from its start.
class GrowthTest : public ::testing::Test {
 protected:
  GrowthTest() {
    hole_.address = kGrowthStart;
    hole_.size = 10 * kGrowthGranule;
  }

  Growth InChunks(uint64_t first, uint64_t count, uint32_t granules) {
    return Growth{&hole_, kGrowthStart + first * kGrowthGranule, count * kGrowthGranule}.InChunks(
        granules, kGrowthGranule);
  }
  static void ExpectGranules(const Growth& growth, uint64_t first, uint64_t count) {
    EXPECT_EQ(growth.address, kGrowthStart + first * kGrowthGranule);
    EXPECT_EQ(growth.size, count * kGrowthGranule);
  }

  Block hole_;
};

TEST_F(GrowthTest, RoundedGrowthKeepsItsHoleAndChunkSize) {
  const Growth growth = InChunks(0, 3, 4);
  EXPECT_EQ(growth.hole, &hole_);
  EXPECT_EQ(growth.chunk, 4u);
}

TEST_F(GrowthTest, GrowthAtTheBottomIsExtendedUpwards) { ExpectGranules(InChunks(0, 3, 4), 0, 4); }

TEST_F(GrowthTest, GrowthAtTheTopIsExtendedDownwards) { ExpectGranules(InChunks(7, 3, 4), 6, 4); }

TEST_F(GrowthTest, GrowthInTheMiddleIsExtendedUpwards) { ExpectGranules(InChunks(2, 3, 4), 2, 4); }

TEST_F(GrowthTest, GrowthOfWholeChunksIsUnchanged) { ExpectGranules(InChunks(2, 4, 4), 2, 4); }

TEST_F(GrowthTest, GrowthStaysWithinItsHole) {
  ExpectGranules(InChunks(0, 3, 32), 0, 10);
  ExpectGranules(InChunks(7, 3, 32), 0, 10);
  ExpectGranules(InChunks(6, 3, 8), 6, 4);
}

}  // namespace
}  // namespace memtrace
