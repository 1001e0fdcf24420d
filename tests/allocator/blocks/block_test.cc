// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/block.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(BlockArenaTest, SplitAndAbsorbNextAreInverse) {
  BlockArena arena;
  Block* block = arena.New();
  block->address = DeviceAddress{1_MiB};
  block->size = 8_KiB;
  Block* rest = arena.Split(block, 512);
  EXPECT_EQ(block->size, 512u);
  EXPECT_EQ(rest->address, DeviceAddress{1_MiB} + 512);
  EXPECT_EQ(rest->end(), DeviceAddress{1_MiB} + 8_KiB);
  EXPECT_EQ(block->next, rest);
  EXPECT_EQ(rest->previous, block);
  arena.AbsorbNext(block);
  EXPECT_EQ(block->size, 8_KiB);
  EXPECT_EQ(block->next, nullptr);
  EXPECT_EQ(arena.live(), 1u);
}

TEST(BlockArenaTest, SplittingInTheMiddleKeepsTheChain) {
  BlockArena arena;
  Block* first = arena.New();
  first->size = 3;
  Block* third = arena.Split(first, 2);
  Block* second = arena.Split(first, 1);
  EXPECT_EQ(first->next, second);
  EXPECT_EQ(second->next, third);
  EXPECT_EQ(third->previous, second);
}

TEST(BlockArenaTest, RecycledRecordIsReused) {
  BlockArena arena;
  Block* block = arena.New();
  arena.Recycle(block);
  EXPECT_EQ(arena.New(), block);
}

}  // namespace
}  // namespace memtrace
