// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/segment_groups.h"

#include <gtest/gtest.h>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

class SegmentGroupsTest : public HeapParts {
 protected:
  // Makes `size` bytes of free memory in chunks of its own.
  void FreeChunks(Bytes size, StreamId stream) { Free(Allocate(size, stream)); }
  Bytes MappedOf(StreamId stream) {
    Bytes mapped = 0;
    for (const auto& segment : Group(stream).segments().all()) {
      mapped += segment->reservation().mapped();
    }
    return mapped;
  }
  absl::Status TakeBack(Bytes wanted, const SegmentGroup* last = nullptr) {
    groups_.MergeRecent();
    return groups_.TakeBack(wanted, last);
  }

  SegmentGroups& groups_ = heap_.groups();
};

TEST_F(SegmentGroupsTest, EachKeyHasOneGroup) {
  SegmentGroup& large = Group(kMain);
  EXPECT_EQ(&Group(kMain), &large);
  EXPECT_NE(&Group(kMain, /*small=*/true), &large);
  EXPECT_NE(&Group(kSide), &large);
  EXPECT_EQ(groups_.Find({kMain, {}, false}), &large);
  EXPECT_EQ(groups_.Find({kMain, kPool, false}), nullptr);
  EXPECT_EQ(&large.lane(), &Group(kMain, /*small=*/true).lane()) << "a stream has one";
}

TEST_F(SegmentGroupsTest, BlockInUseIsFoundOnlyByItsFirstAddress) {
  const DeviceAddress usual = Allocate(4_MiB);
  const DeviceAddress pooled = AllocateIn(kPool, 4_MiB);
  EXPECT_EQ(groups_.OwnerOf(usual), &Group(kMain));
  EXPECT_EQ(groups_.OwnerOf(pooled), groups_.Find({kMain, kPool, false}));
  EXPECT_EQ(groups_.OwnerOf(usual + 512), nullptr);
  EXPECT_EQ(groups_.OwnerOf(pooled + 512), nullptr);
  Free(usual);
  Free(pooled);
  groups_.MergeRecent();
  EXPECT_EQ(groups_.OwnerOf(usual), nullptr);
  EXPECT_EQ(groups_.OwnerOf(pooled), nullptr);
}

TEST_F(SegmentGroupsTest, OtherGroupsAreReclaimedFirstFromTheOldest) {
  for (uint64_t stream = 1; stream <= 3; ++stream) FreeChunks(8_MiB, StreamId{stream});
  ASSERT_TRUE(TakeBack(6_MiB, &Group(StreamId{1})).ok());
  EXPECT_EQ(MappedOf(StreamId{2}), 2_MiB);
  ASSERT_TRUE(TakeBack(8_MiB, &Group(StreamId{1})).ok());
  EXPECT_EQ(MappedOf(StreamId{2}), 0U);
  EXPECT_EQ(MappedOf(StreamId{3}), 2_MiB);
  EXPECT_EQ(MappedOf(StreamId{1}), 8_MiB);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything, &Group(StreamId{1})).ok());
  EXPECT_EQ(vmm_.used(), 0U);
}

// Work queued on a stream may still use memory that is free on it.
TEST_F(SegmentGroupsTest, ChunkIsReclaimedOnceItsStreamIsDone) {
  const DeviceAddress address = Allocate(8_MiB, kSide);
  vmm_.NoteUse(address, 8_MiB, streams_.Queue(kSide));
  Free(address);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(MappedOf(kSide), 0U);
  EXPECT_EQ(failures_.calls(DriverCall::kWait), 1U);
  EXPECT_TRUE(vmm_.faults().empty());
}

TEST_F(SegmentGroupsTest, NothingIsWaitedForIfNothingCanBeReclaimed) {
  Allocate(8_MiB);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(failures_.calls(DriverCall::kRecord), 0U);
}

TEST_F(SegmentGroupsTest, CapturedStreamIsNotReclaimedFrom) {
  FreeChunks(8_MiB, kMain);
  FreeChunks(8_MiB, kSide);
  streams_.BeginCapture(kMain);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(MappedOf(kMain), 8_MiB);
  EXPECT_EQ(MappedOf(kSide), 0U);
  EXPECT_TRUE(groups_.IsAnyCaptured());
  streams_.EndCapture(kMain);
  EXPECT_FALSE(groups_.IsAnyCaptured());
}

// A replay writes to memory that is not allocated.
TEST_F(SegmentGroupsTest, PoolIsReclaimedOnlyWithoutUsersAndCaptures) {
  Free(AllocateIn(kPool, 8_MiB));
  SegmentGroup& group = Group(kMain, /*small=*/false, kPool);
  groups_.MergeRecent();
  EXPECT_EQ(groups_.Reclaimable(group), 0U);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(vmm_.used(), 8_MiB);
  ASSERT_TRUE(heap_.pools().Release(kPool).ok());
  EXPECT_EQ(groups_.Reclaimable(group), 8_MiB);
  streams_.BeginCapture(kMain);
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(vmm_.used(), 8_MiB) << "while anything is captured nothing is waited for";
  streams_.EndCapture(kMain);
  ASSERT_TRUE(groups_.TakeBackFrom(*heap_.pools().Find(kPool)).ok());
  EXPECT_EQ(vmm_.used(), 0U);
}

TEST_F(SegmentGroupsTest, PoolIsForgottenOnlyWithoutMemory) {
  const DeviceAddress pooled = AllocateIn(kPool, 8_MiB);
  const Pool& pool = *heap_.pools().Find(kPool);
  EXPECT_FALSE(groups_.Forget(pool));
  EXPECT_NE(groups_.Find({kMain, kPool, false}), nullptr);
  Free(pooled);
  groups_.MergeRecent();
  ASSERT_TRUE(heap_.pools().Release(kPool).ok());
  ASSERT_TRUE(groups_.TakeBackFrom(pool).ok());
  EXPECT_TRUE(groups_.Forget(pool));
  EXPECT_EQ(groups_.Find({kMain, kPool, false}), nullptr);
  EXPECT_EQ(vmm_.live_reservations(), 0U);
}

TEST_F(SegmentGroupsTest, StreamThatRejectsEventsIsSynchronizedWithAllOthers) {
  FreeChunks(8_MiB, kSide);
  failures_.FailNth(DriverCall::kRecord, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("invalid resource handle"));
  ASSERT_TRUE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(MappedOf(kSide), 0U);
}

TEST_F(SegmentGroupsTest, FailedSynchronizationLeavesTheMemoryMapped) {
  FreeChunks(8_MiB, kSide);
  failures_.FailNth(DriverCall::kWait, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("no answer"));
  EXPECT_FALSE(TakeBack(SegmentGroups::kEverything).ok());
  EXPECT_EQ(MappedOf(kSide), 8_MiB);
  EXPECT_EQ(streams_.live_events(), 0U) << "the event is forgotten";
}

}  // namespace
}  // namespace memtrace
