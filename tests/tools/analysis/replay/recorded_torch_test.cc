// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/recorded_torch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DeviceAddress kA{1_GiB};
constexpr DeviceAddress kB{2_GiB};

class RecordedTorchTest : public testing::Test {
 protected:
  explicit RecordedTorchTest(const char* settings = "") : torch_(TorchSettings::Parse(settings)) {}
  ~RecordedTorchTest() override { torch_.policy().heap().CheckInvariants(); }

  // Notes that the recording has `size` mapped there.
  void Note(DeviceAddress address, Bytes size, StreamId stream = kStream) {
    torch_.segments().Note({.range = AddressRange::Of(address, size), .stream = stream});
  }
  static Request Of(Bytes bytes, uint32_t pool = 0) { return {bytes, kStream, pool}; }
  DeviceAddress Allocate(Bytes bytes) {
    const auto placed = torch_.policy().Allocate(Of(bytes));
    return placed ? placed->address : DeviceAddress{};
  }
  std::vector<std::string> Segments() {
    std::vector<std::string> texts;
    torch_.policy().heap().segments().ForEach(
        [&texts](const TorchSegment& segment) { texts.push_back(Contents(segment)); });
    return texts;
  }

  RecordedTorch torch_;
};

class RecordedExpandableTest : public RecordedTorchTest {
 protected:
  RecordedExpandableTest() : RecordedTorchTest("expandable_segments:True") {}
};

TEST_F(RecordedTorchTest, DriverReturnsTheRecordedAddresses) {
  Note(kB, 20_MiB);
  Note(kA, 30_MiB);
  EXPECT_EQ(Allocate(30_MiB), kA);
  EXPECT_EQ(Allocate(2_MiB), kB);
  EXPECT_TRUE(torch_.segments().is_settled());
}

TEST_F(RecordedTorchTest, HasFreePredictsDriverCalls) {
  Note(kA, 20_MiB);
  EXPECT_FALSE(torch_.HasFree(Of(2_MiB)));
  Allocate(2_MiB);
  EXPECT_TRUE(torch_.HasFree(Of(18_MiB)));
  EXPECT_FALSE(torch_.HasFree(Of(18_MiB + 1)));
  EXPECT_FALSE(torch_.HasFree(Of(2_MiB, /*pool=*/1)));
  EXPECT_FALSE(torch_.CanGrow(Of(2_MiB))) << "its segments do not expand";
}

TEST_F(RecordedExpandableTest, PoolWithAReservationCanGrow) {
  EXPECT_FALSE(torch_.CanGrow(Of(2_MiB)));
  Note(kA, 20_MiB);
  Allocate(5_MiB);
  EXPECT_TRUE(torch_.CanGrow(Of(2_MiB)));
  EXPECT_FALSE(torch_.CanGrow(Of(512)));
  EXPECT_TRUE(torch_.GrowsIntoMapped(Of(15_MiB)));
  EXPECT_FALSE(torch_.GrowsIntoMapped(Of(15_MiB + 1)));
}

TEST_F(RecordedTorchTest, BlockIsPlacedAsRecordedIfFree) {
  Note(kA, 20_MiB);
  Allocate(2_MiB);
  EXPECT_FALSE(torch_.AllocateAt(Of(2_MiB), kA));
  EXPECT_FALSE(torch_.AllocateAt(Of(2_MiB), kA + 19_MiB));
  EXPECT_FALSE(torch_.AllocateAt(Of(2_MiB), kB));
  EXPECT_FALSE(torch_.AllocateAt(Of(0), kA + 4_MiB, /*occupied=*/0));
  EXPECT_EQ(torch_.AllocateAt(Of(2_MiB), kA + 4_MiB)->offset, 4_MiB);
  EXPECT_EQ(torch_.AllocateAt(Of(2_MiB), kA + 10_MiB, /*occupied=*/3_MiB)->size, 3_MiB);
  EXPECT_THAT(Segments(), ElementsAre("used 2M, free 2M, used 2M, free 4M, used 3M, free 7M"));
}

// pytorch issue 189504: after release_cached_blocks torch calls the driver again, and does not look
// at blocks that have become free meanwhile.
TEST_F(RecordedTorchTest, FreeBlocksAreIgnoredAfterAFailedCall) {
  Note(kA, 20_MiB);
  torch_.policy().Free(torch_.policy().Allocate(Of(5_MiB))->block);
  Note(kB, 20_MiB);
  EXPECT_EQ(torch_.AllocateByGrowth(Of(5_MiB))->address, kB);
  EXPECT_FALSE(torch_.AllocateByGrowth(Of(TorchPolicy::kMostBytes + 1)));
}

TEST_F(RecordedTorchTest, UnrecordedSegmentsAreRemoved) {
  const auto placed = torch_.policy().Allocate(Of(2_MiB));
  ASSERT_TRUE(placed);
  EXPECT_FALSE(torch_.segments().is_settled());
  torch_.policy().Free(placed->block);
  torch_.Settle(/*pool=*/0);
  EXPECT_THAT(Segments(), IsEmpty());
  EXPECT_TRUE(torch_.segments().is_settled());
}

TEST_F(RecordedTorchTest, UnrequestedSegmentsAreAddedToTheirLane) {
  Note(kA, 20_MiB, kOther);
  Note(kB, 2_MiB);
  torch_.Settle(/*pool=*/3);
  TorchLanes& lanes = torch_.policy().heap().lanes();
  EXPECT_NE(lanes.Find(lanes.At(3, /*is_small=*/false, kOther), 20_MiB), nullptr);
  EXPECT_NE(lanes.Find(lanes.At(3, /*is_small=*/true, kStream), 2_MiB), nullptr)
      << "a segment of 2 MiB is one of small blocks";
  EXPECT_TRUE(torch_.segments().is_settled()) << "what was added is no difference";
}

TEST_F(RecordedExpandableTest, UnrequestedMemoryIsSmallUnlessItIsWholeLargeChunks) {
  Note(kA, 22_MiB, kOther);
  Note(kB, 40_MiB, kOther);
  torch_.Settle(/*pool=*/0);
  TorchLanes& lanes = torch_.policy().heap().lanes();
  EXPECT_EQ(lanes.At(0, /*is_small=*/true, kOther).free.size(), 1U);
  EXPECT_EQ(lanes.At(0, /*is_small=*/false, kOther).free.begin()->size, 40_MiB);
}

TEST_F(RecordedTorchTest, MappingBelongsToThePoolOfItsBlock) {
  Note(kA, 20_MiB);
  torch_.AddMappingOf(Of(2_MiB, /*pool=*/5), kB);
  EXPECT_THAT(Segments(), IsEmpty()) << "nothing was mapped there";
  torch_.AddMappingOf(Of(2_MiB, /*pool=*/5), kA + 7_MiB);
  EXPECT_TRUE(torch_.HasFree(Of(20_MiB, /*pool=*/5)));
  EXPECT_TRUE(torch_.segments().is_settled());
}

// MemPool(no_split=True): a block is as large as the segment that was made for it.
TEST_F(RecordedTorchTest, PoolWhoseFirstBlockFillsItsSegmentDoesNotSplit) {
  Note(kA, 20_MiB);
  torch_.InferPoolSplitting(Of(2_MiB, /*pool=*/5), AddressRange::Of(kA, 20_MiB));
  EXPECT_EQ(torch_.policy().Allocate(Of(2_MiB, /*pool=*/5))->size, 20_MiB);
  EXPECT_FALSE(torch_.HasFree(Of(2_MiB, /*pool=*/5)));
}

TEST_F(RecordedTorchTest, OtherFirstBlocksDoNotStopAPoolFromSplitting) {
  Note(kA, 20_MiB);
  torch_.InferPoolSplitting(Of(20_MiB - 512, /*pool=*/5), AddressRange::Of(kA, 20_MiB));
  torch_.InferPoolSplitting(Of(2_MiB, /*pool=*/5), AddressRange::Of(kA, 4_MiB));
  EXPECT_EQ(torch_.policy().Allocate(Of(2_MiB, /*pool=*/5))->size, 2_MiB);
}

}  // namespace
}  // namespace memtrace::replay
