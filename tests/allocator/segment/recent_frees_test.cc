// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/recent_frees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace memtrace {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RecentFreesTest : public ::testing::Test {
 protected:
  Block* New(Bytes size) {
    Block* block = arena_.New();
    block->size = size;
    block->state = Block::State::kAllocated;
    return block;
  }
  void Put(Block* block) {
    recent_.Put(block, [this](Block* left) { left_.push_back(left); });
  }

  BlockArena arena_;
  RecentFrees recent_;
  std::vector<Block*> left_;
};

TEST_F(RecentFreesTest, LastFreedBlockOfTheSizeComesFirst) {
  Block* first = New(1_MiB);
  Block* second = New(1_MiB);
  Put(first);
  Put(second);
  EXPECT_TRUE(second->is(Block::State::kRecentlyFreed));
  EXPECT_EQ(recent_.bytes(), 2_MiB);
  EXPECT_EQ(recent_.Take(512), nullptr);
  EXPECT_EQ(recent_.Take(1_MiB), second);
  EXPECT_TRUE(second->is(Block::State::kAllocated));
  EXPECT_EQ(recent_.Take(1_MiB), first);
  EXPECT_EQ(recent_.Take(1_MiB), nullptr);
  EXPECT_TRUE(recent_.empty());
  EXPECT_EQ(recent_.bytes(), 0u);
}

TEST_F(RecentFreesTest, AnotherSizeInTheSameSlotEvictsThem) {
  // There are more sizes than slots, so that some must share one.
  constexpr Bytes kLargest = 50_KiB;
  std::vector<Block*> put;
  for (Bytes size = 512; size <= kLargest; size += 512) {
    put.push_back(New(size));
    Put(put.back());
  }
  EXPECT_FALSE(left_.empty());
  Bytes kept = 0;
  for (const Block* block : put) kept += block->size;
  for (const Block* block : left_) kept -= block->size;
  EXPECT_EQ(recent_.bytes(), kept);
  EXPECT_EQ(recent_.Take(kLargest), put.back());  // the last one was never evicted
}

TEST_F(RecentFreesTest, EmptyAllRemovesEveryBlock) {
  Block* small = New(512);
  Block* large = New(8_MiB);
  Put(small);
  Put(large);
  EXPECT_THAT(left_, IsEmpty());
  recent_.EmptyAll([this](Block* block) { left_.push_back(block); });
  EXPECT_THAT(left_, UnorderedElementsAre(small, large));
  EXPECT_TRUE(recent_.empty());
  EXPECT_EQ(recent_.Take(512), nullptr);
}

}  // namespace
}  // namespace memtrace
