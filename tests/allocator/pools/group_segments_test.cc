// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/group_segments.h"

#include <gtest/gtest.h>

#include <memory>

#include "allocator/accounts/mapping_account.h"
#include "allocator/card/memory_source.h"
#include "allocator/card/memory_vmm.h"

namespace memtrace {
namespace {

constexpr Bytes kCard = 64_MiB;

class NoSource : public MemorySource {
 public:
  absl::StatusOr<DeviceAddress> Allocate(Bytes, StreamId) override {
    return absl::ResourceExhaustedError("none");
  }
  void Free(DeviceAddress, Bytes, StreamId) override {}
};

class GroupSegmentsTest : public testing::Test {
 protected:
  GroupSegments SegmentsOf(const Pool* pool) { return {{}, pool, vmm_, account_}; }
  // Named, because clang 14 takes no literal operator as a default argument.
  static constexpr Bytes kUsual = 32_MiB;
  ExpandableSegment& Add(Bytes size = kUsual, bool is_planned = false) {
    return **segments_.Add({size, 2_MiB, /*holds_one=*/false, is_planned});
  }
  // Maps `size` bytes at the segment's beginning.
  static void Map(ExpandableSegment& segment, Bytes size) {
    Block* hole = segment.blocks().holes().At(segment.reservation().address());
    ASSERT_NE(hole, nullptr);
    ASSERT_TRUE(segment.Grow({hole, segment.reservation().address(), size}).ok());
  }

  CallFailures failures_;
  MemoryVmm vmm_{{.capacity = kCard}, nullptr, &failures_};
  AllocationObserver silent_;
  MappingAccount account_{DeviceIndex{0}, silent_};
  GroupSegments segments_ = SegmentsOf(nullptr);
};

TEST_F(GroupSegmentsTest, DefaultSegmentIsExpandableOverTheWholeCard) {
  const SegmentShape shape = segments_.NextShape(4_MiB, {.total = kCard});
  EXPECT_EQ(shape.size, 72_MiB);
  EXPECT_EQ(shape.granule, 2_MiB);
  EXPECT_FALSE(shape.is_fixed());
  EXPECT_FALSE(shape.holds_one);
}

TEST_F(GroupSegmentsTest, PoolThatDoesNotSplitHasOneSegmentPerRequest) {
  Pool pool;
  pool.no_split = true;
  const GroupSegments fixed = SegmentsOf(&pool);
  const SegmentShape shape = fixed.NextShape(3_MiB, {.total = kCard});
  EXPECT_EQ(shape.size, 4_MiB);
  EXPECT_TRUE(shape.is_fixed());
  EXPECT_TRUE(shape.holds_one);
  EXPECT_EQ(fixed.LeastGrowth(3_MiB), 4_MiB);
}

// An allocator passed to MemPool(allocator) is called with torch's own sizes: get_allocation_size.
TEST_F(GroupSegmentsTest, SourceIsAskedForTorchsSegmentSizes) {
  Pool pool;
  pool.source = std::make_shared<NoSource>();
  const GroupSegments fixed = SegmentsOf(&pool);
  EXPECT_TRUE(fixed.has_source());
  EXPECT_EQ(fixed.NextShape(512, {.total = kCard}).size, 2_MiB);
  EXPECT_EQ(fixed.NextShape(2_MiB, {.total = kCard}).size, 20_MiB);
  EXPECT_FALSE(fixed.NextShape(2_MiB, {.total = kCard}).holds_one);
  EXPECT_EQ(fixed.LeastGrowth(11_MiB), 12_MiB);
  EXPECT_EQ(fixed.Obtainable(/*available=*/40_MiB, /*reservation=*/72_MiB), 0U)
      << "the card's memory is not its";
}

TEST_F(GroupSegmentsTest, SegmentThatNeedsTheFewestGranulesGrows) {
  Add();
  ExpandableSegment& second = Add();
  EXPECT_EQ(segments_.PlanGrowth(5_MiB)->hole->segment, segments_.all().front().get())
      << "among equals the oldest";
  Map(second, 2_MiB);
  EXPECT_EQ(segments_.PlanGrowth(5_MiB)->hole->segment, &second);
  EXPECT_EQ(segments_.LeastGrowth(5_MiB), 4_MiB);
  EXPECT_FALSE(segments_.PlanGrowth(40_MiB));
  EXPECT_EQ(segments_.LeastGrowth(40_MiB), 40_MiB) << "of one more segment";
}

TEST_F(GroupSegmentsTest, PlannedSegmentIsSkipped) {
  Map(Add(32_MiB, /*is_planned=*/true), 8_MiB);
  EXPECT_EQ(segments_.TakeFree(4_MiB), nullptr);
  EXPECT_FALSE(segments_.PlanGrowth(12_MiB));
  ExpandableSegment& usual = Add();
  Map(usual, 8_MiB);
  EXPECT_EQ(segments_.TakeFree(4_MiB)->segment, &usual);
  const DeviceAddress planned = segments_.all().front()->reservation().address();
  EXPECT_EQ(segments_.TakeAt(planned + 2_MiB, 2_MiB)->address, planned + 2_MiB);
}

TEST_F(GroupSegmentsTest, ObtainableIsTheLargestRunOfOneSegment) {
  EXPECT_EQ(segments_.Obtainable(10_MiB, 72_MiB), 10_MiB);
  EXPECT_EQ(segments_.Obtainable(10_MiB, /*reservation=*/6_MiB), 6_MiB);
  Map(Add(), 4_MiB);
  Map(Add(), 8_MiB);
  EXPECT_EQ(segments_.Obtainable(0, 0), 8_MiB);
  EXPECT_EQ(segments_.Obtainable(10_MiB, 0), 18_MiB) << "what is free beside a hole counts";
}

TEST_F(GroupSegmentsTest, UnmappedSegmentIsKeptUnlessAllAreDropped) {
  Add();
  Map(Add(), 2_MiB);
  segments_.DropUnmapped(/*all=*/false);
  EXPECT_EQ(segments_.all().size(), 2U);
  segments_.DropUnmapped(/*all=*/true);
  EXPECT_EQ(segments_.all().size(), 1U) << "the other one has memory";
  EXPECT_EQ(vmm_.live_reservations(), 1U);
}

TEST_F(GroupSegmentsTest, UnmappedFixedSegmentIsDroppedUnlessTheDriverFails) {
  Pool pool;
  pool.no_split = true;
  GroupSegments fixed = SegmentsOf(&pool);
  ASSERT_TRUE(fixed.Add(fixed.NextShape(4_MiB, {.total = kCard})).ok());
  failures_.FailNth(DriverCall::kReleaseReservation, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("not now"));
  fixed.DropUnmapped(/*all=*/false);
  EXPECT_EQ(fixed.all().size(), 1U);
  fixed.DropUnmapped(/*all=*/false);
  EXPECT_TRUE(fixed.all().empty());
}

}  // namespace
}  // namespace memtrace
