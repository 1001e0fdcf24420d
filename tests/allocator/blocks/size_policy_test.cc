// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/size_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace memtrace {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> Chunks(uint32_t granules) {
  std::vector<uint32_t> chunks;
  while (granules > 0) {
    chunks.push_back(NextChunk(granules));
    granules -= chunks.back();
  }
  return chunks;
}

TEST(SizePolicyTest, RequestsAreRoundedUpTo512) {
  EXPECT_EQ(RoundedSize(1), 512u);
  EXPECT_EQ(RoundedSize(512), 512u);
  EXPECT_EQ(RoundedSize(513), 1_KiB);
}

TEST(SizePolicyTest, RoundingTheLargestNumberDoesNotOverflow) {
  EXPECT_EQ(RoundedSize(~Bytes{0}), ~Bytes{0});
}

TEST(SizePolicyTest, OneMebibyteIsTheLastSmallRequest) {
  EXPECT_TRUE(IsSmall(RoundedSize(1_MiB)));
  EXPECT_FALSE(IsSmall(RoundedSize(1_MiB + 1)));
}

TEST(SizePolicyTest, GrowthIsCutIntoDescendingPowersOfTwo) {
  EXPECT_THAT(Chunks(1), ElementsAre(1));
  EXPECT_THAT(Chunks(37), ElementsAre(32, 4, 1));
  EXPECT_THAT(Chunks(95), ElementsAre(32, 32, 16, 8, 4, 2, 1));
}

TEST(SizePolicyTest, GrowthIsCutIntoTheLargestChunksFirst) {
  EXPECT_EQ(NextChunk(40, 20), 20u);
  EXPECT_EQ(NextChunk(19, 20), 16u);
  EXPECT_EQ(NextChunk(3, 1), 1u);
}

TEST(SizePolicyTest, ChunksShrinkAsTheCardFills) {
  EXPECT_EQ(ChunkGranules(80_GiB, 80_GiB, 2_MiB), kLargestChunk);
  EXPECT_EQ(ChunkGranules(60_GiB, 80_GiB, 2_MiB), 5u);  // 32 x (3/4)^6 = 5.7
  EXPECT_EQ(ChunkGranules(24_GiB, 24_GiB, 2_MiB), 8u);
  EXPECT_EQ(ChunkGranules(8_GiB, 8_GiB, 2_MiB), 1u);
  EXPECT_EQ(ChunkGranules(40_GiB, 80_GiB, 2_MiB), 1u);
  EXPECT_EQ(ChunkGranules(0, 80_GiB, 2_MiB), 1u);
  EXPECT_EQ(ChunkGranules(640_GiB, 640_GiB, 2_MiB), kLargestChunk);
  EXPECT_EQ(ChunkGranules(4_GiB, 4_GiB, 2_MiB), 1u);
  EXPECT_EQ(ChunkGranules(0, 0, 2_MiB), 1u);
}

TEST(SizePolicyTest, ReservationIsNineEighthsOfTheCard) {
  EXPECT_EQ(ReservationSize(80_GiB, 2_MiB), 90_GiB);
  EXPECT_EQ(ReservationSize(10_MiB, 2_MiB), 12_MiB);
}

}  // namespace
}  // namespace memtrace
