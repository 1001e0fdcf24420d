// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/block_ring.h"

#include <gtest/gtest.h>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {
namespace {

constexpr uint64_t kBegin = 8192;

BlockRing RingOf(uint64_t blocks) { return {kBegin, kBegin + blocks * kBlockBytes}; }

// Returns the index of the block in the file, from 0.
uint64_t Next(BlockRing& ring, bool stays = false) {
  return (ring.Next(stays) - kBegin) / kBlockBytes;
}

TEST(BlockRingTest, BlocksFollowEachOtherUntilTheFileIsFull) {
  BlockRing ring = RingOf(3);
  for (uint64_t place = 0; place < 3; ++place) {
    EXPECT_EQ(Next(ring), place);
    EXPECT_EQ(ring.end(), kBegin + (place + 1) * kBlockBytes);
  }
  EXPECT_EQ(Next(ring), 0U);
  EXPECT_EQ(ring.end(), ring.limit());
}

TEST(BlockRingTest, PartialBlockAtTheEndIsNotUsed) {
  BlockRing ring(kBegin, kBegin + 2 * kBlockBytes + kBlockBytes / 2);
  Next(ring);
  Next(ring);
  EXPECT_EQ(Next(ring), 0U);
  EXPECT_EQ(ring.end(), kBegin + 2 * kBlockBytes);
}

// Tests the drawing in the header.
TEST(BlockRingTest, OldestEventBlockIsDroppedAndDefinitionsStay) {
  BlockRing ring = RingOf(5);
  EXPECT_EQ(Next(ring), 0U);
  EXPECT_EQ(Next(ring), 1U);
  EXPECT_EQ(Next(ring, /*stays=*/true), 2U);
  EXPECT_EQ(Next(ring), 3U);
  EXPECT_EQ(Next(ring), 4U);
  EXPECT_EQ(Next(ring), 0U);
  EXPECT_EQ(Next(ring, /*stays=*/true), 1U);
  EXPECT_EQ(Next(ring), 3U);
  EXPECT_EQ(Next(ring), 4U);
  EXPECT_EQ(Next(ring), 0U) << "place 1 has definitions now";
  EXPECT_EQ(ring.event_blocks(), 3U);
}

TEST(BlockRingTest, DefinitionsTakeAQuarterAtMost) {
  BlockRing ring = RingOf(8);
  EXPECT_TRUE(ring.has_room_for_definitions());
  Next(ring, /*stays=*/true);
  EXPECT_TRUE(ring.has_room_for_definitions());
  Next(ring, /*stays=*/true);
  EXPECT_FALSE(ring.has_room_for_definitions());
  EXPECT_EQ(ring.event_blocks(), 6U);
}

}  // namespace
}  // namespace memtrace::trace
