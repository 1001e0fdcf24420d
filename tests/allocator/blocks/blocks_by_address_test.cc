// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/blocks_by_address.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr DeviceAddress kHere{1_MiB};
constexpr DeviceAddress kElsewhere{2_MiB};

Block InUse(DeviceAddress address) {
  Block block;
  block.address = address;
  block.size = 512;
  block.state = Block::State::kAllocated;
  return block;
}

TEST(BlocksByAddressTest, OnlyBlocksInUseAreFound) {
  BlocksByAddress blocks;
  Block block = InUse(kHere);
  blocks.Add(&block);
  EXPECT_EQ(blocks.Find(kHere), &block);
  EXPECT_EQ(blocks.Find(kHere + 512), nullptr);
  block.state = Block::State::kRecentlyFreed;
  EXPECT_EQ(blocks.Find(kHere), nullptr);
  EXPECT_TRUE(blocks.Has(&block));
}

TEST(BlocksByAddressTest, ReusedRecordIsNotFoundAtItsOldAddress) {
  BlocksByAddress blocks;
  Block block = InUse(kHere);
  blocks.Add(&block);
  blocks.NoteHandedOut(&block);
  EXPECT_EQ(blocks.Find(kHere), &block);
  blocks.Remove(&block);
  block.address = kElsewhere;
  blocks.Add(&block);
  blocks.NoteHandedOut(&block);
  EXPECT_EQ(blocks.Find(kHere), nullptr);
  EXPECT_EQ(blocks.Find(kElsewhere), &block);
  blocks.CheckInvariants();
}

TEST(BlocksByAddressTest, RecentlyFreedBlocksAreNotVisited) {
  BlocksByAddress blocks;
  Block block = InUse(kHere), freed = InUse(kElsewhere);
  freed.state = Block::State::kRecentlyFreed;
  blocks.Add(&block);
  blocks.Add(&freed);
  std::vector<Block*> visited;
  blocks.ForEachInUse([&](Block* one) { visited.push_back(one); });
  EXPECT_EQ(visited, std::vector<Block*>{&block});
  EXPECT_EQ(blocks.size(), 2u);
}

}  // namespace
}  // namespace memtrace
