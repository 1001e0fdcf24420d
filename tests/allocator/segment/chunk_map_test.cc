// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/chunk_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChunkMapTest, PictureShowsMappedGranules) {
  ChunkMap map;
  map.Add({0, 2});
  map.Add({4, 1});
  EXPECT_EQ(map.Picture(6), "xx..x.");
  EXPECT_EQ(map.granules(), 3u);
}

TEST(ChunkMapTest, RangesCountContiguousRunsNotChunks) {
  ChunkMap map;
  map.Add({0, 2});
  map.Add({4, 1});
  EXPECT_EQ(map.ranges(), 2);
  map.Add({2, 2});
  EXPECT_EQ(map.Picture(5), "xxxxx");
  EXPECT_EQ(map.ranges(), 1);
  map.Remove({2, 2});
  EXPECT_EQ(map.Picture(5), "xx..x");
  EXPECT_EQ(map.ranges(), 2);
  map.Remove({0, 2});
  map.Remove({4, 1});
  EXPECT_EQ(map.ranges(), 0);
}

TEST(ChunkMapTest, InsideReturnsOnlyWholeChunks) {
  ChunkMap map;
  map.Add({0, 4});
  map.Add({4, 2});
  map.Add({6, 1});
  EXPECT_THAT(map.Inside(1, 7), ElementsAre(ChunkRange{4, 2}, ChunkRange{6, 1}));
  EXPECT_THAT(map.Inside(0, 5), ElementsAre(ChunkRange{0, 4}));
  EXPECT_THAT(map.Inside(1, 5), IsEmpty());
}

TEST(ChunkMapTest, UnderReturnsChunksThatAreTouched) {
  ChunkMap map;
  map.Add({0, 4});
  map.Add({4, 2});
  map.Add({8, 1});
  EXPECT_THAT(map.Under(3, 5), ElementsAre(ChunkRange{0, 4}, ChunkRange{4, 2}));
  EXPECT_THAT(map.Under(4, 5), ElementsAre(ChunkRange{4, 2}));
  EXPECT_THAT(map.Under(0, 1), ElementsAre(ChunkRange{0, 4}));
  EXPECT_THAT(map.Under(6, 9), ElementsAre(ChunkRange{8, 1}));
  EXPECT_THAT(map.Under(6, 8), IsEmpty());
  EXPECT_THAT(map.Under(9, 20), IsEmpty());
  EXPECT_THAT(map.Under(4, 4), IsEmpty());
}

TEST(ChunkMapDeathTest, MappedGranuleIsNotMappedAgain) {
  ChunkMap map;
  map.Add({4, 4});
  EXPECT_DEATH(map.Add({7, 2}), "CHECK failed");
  EXPECT_DEATH(map.Add({2, 3}), "CHECK failed");
  EXPECT_DEATH(map.Remove({4, 2}), "CHECK failed");
}

}  // namespace
}  // namespace memtrace
