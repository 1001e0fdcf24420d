// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/segment_group.h"

#include <gtest/gtest.h>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

class SegmentGroupTest : public HeapParts {
 protected:
  // Takes the block that a request gets, and returns its address.
  DeviceAddress Peek(SegmentGroup& group, Bytes size) {
    Block* block = group.Take(size);
    return block == nullptr ? DeviceAddress{} : group.HandOut(block, size, ContextId{0});
  }
};

TEST_F(SegmentGroupTest, LastFreedBlockOfTheSizeIsTakenFirst) {
  const DeviceAddress first = Allocate(4_MiB);
  const DeviceAddress second = Allocate(4_MiB);
  const DeviceAddress third = Allocate(4_MiB);
  Free(first);
  Free(third);
  Free(second);
  EXPECT_EQ(Peek(Group(), 4_MiB), second);
  EXPECT_EQ(Peek(Group(), 4_MiB), third);
  EXPECT_EQ(Peek(Group(), 4_MiB), first);
}

TEST_F(SegmentGroupTest, LargeRequestMergesRecentlyFreedBlocks) {
  const DeviceAddress first = Allocate(3_MiB);
  const DeviceAddress second = Allocate(3_MiB);
  Allocate(2_MiB);
  Free(first);
  Free(second);
  EXPECT_EQ(Peek(Group(), 6_MiB), first);
}

// 3 MiB are cut from the range of 4 MiB, not from the one of 10 MiB.
TEST_F(SegmentGroupTest, LargeRequestGetsTheBestFit) {
  const DeviceAddress ten = Allocate(10_MiB);
  Allocate(2_MiB);
  const DeviceAddress four = Allocate(4_MiB);
  Allocate(2_MiB);
  Free(ten);
  Free(four);
  EXPECT_EQ(Peek(Group(), 3_MiB), four);
}

// Small blocks are freed and requested again most often, so merging them is postponed.
TEST_F(SegmentGroupTest, SmallRequestMergesOnlyIfNothingElseFits) {
  const DeviceAddress first = Allocate(512);
  const DeviceAddress second = Allocate(512);
  const DeviceAddress last = Allocate(512);
  Free(first);
  Free(second);
  SegmentGroup& small = Group(kMain, /*small=*/true);
  EXPECT_EQ(Peek(small, 1024), last + 512);
  EXPECT_EQ(Peek(small, 2_MiB - Bytes{5} * 512), last + 512 + 1024) << "all that was left";
  EXPECT_EQ(Peek(small, 1024), first);
  EXPECT_EQ(Peek(small, 512), DeviceAddress{});
}

TEST_F(SegmentGroupTest, WaitingBlockIsUnavailableUntilItIsGivenBack) {
  const DeviceAddress address = Allocate(4_MiB);
  SegmentGroup& group = Group();
  Block* block = group.blocks().Find(address);
  group.StartWaiting(block);
  EXPECT_EQ(group.blocks().Find(address), nullptr);
  EXPECT_TRUE(block->is(Block::State::kPendingFree));
  EXPECT_EQ(group.Take(4_MiB), nullptr);
  group.CheckInvariants();
  group.FinishWaiting(block);
  EXPECT_EQ(Peek(group, 4_MiB), address);
  heap_.CheckInvariants();
}

TEST_F(SegmentGroupTest, StatedRangeIsTakenIfItIsEntirelyFree) {
  const DeviceAddress first = Allocate(4_MiB);
  const DeviceAddress second = Allocate(4_MiB);
  Allocate(4_MiB);
  Free(second);
  heap_.groups().MergeRecent();
  SegmentGroup& group = Group();
  EXPECT_EQ(group.TakeAt(first, 512), nullptr);
  EXPECT_EQ(group.TakeAt(second, 4_MiB + 512), nullptr);
  Block* block = group.TakeAt(second + 1_MiB, 2_MiB);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(group.HandOut(block, 2_MiB, ContextId{9}), second + 1_MiB);
  EXPECT_EQ(group.blocks().Find(second + 1_MiB)->context, ContextId{9});
  heap_.CheckInvariants();
}

TEST_F(SegmentGroupTest, MergedBlocksHaveNoContextAndNoRequestedSize) {
  const DeviceAddress address = Allocate(4_MiB);
  Share(address, kMain);
  Block* block = BlockAt(address);
  block->context = ContextId{5};
  Free(address);
  Group().MergeRecent();
  EXPECT_EQ(block->requested, 0U);
  EXPECT_EQ(block->context, ContextId{});
}

}  // namespace
}  // namespace memtrace
