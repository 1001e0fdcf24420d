// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/expandable_segment.h"

#include <gtest/gtest.h>

#include "allocator/card/memory_vmm.h"

namespace memtrace {
namespace {

constexpr Bytes kGranule = 2_MiB;
constexpr Bytes kAll = ~Bytes{0};

class ExpandableSegmentTest : public ::testing::Test {
 protected:
  explicit ExpandableSegmentTest(uint32_t capacity = 64, uint32_t length = 72)
      : vmm_({.capacity = capacity * kGranule}, nullptr, &failures_),
        segment_(
            ExpandableSegment::Reserve({}, {length * kGranule, kGranule}, vmm_, arena_, account_)
                .value()) {}

  // Takes a block, and grows the segment if needed, as the heap does.
  Block* Allocate(Bytes size) {
    if (Block* block = segment_->blocks().Take(size)) return block;
    const auto growth = segment_->blocks().holes().PlanGrowth(size);
    if (!growth.has_value() || !segment_->Grow(*growth).ok()) return nullptr;
    segment_->CheckInvariants();
    return segment_->blocks().Take(size);
  }
  void Free(Block* block) {
    segment_->blocks().Return(block);
    segment_->CheckInvariants();
  }
  Bytes Trim(Bytes wanted) {
    const Bytes unmapped = segment_->Trim(wanted).value();
    segment_->CheckInvariants();
    return unmapped / kGranule;
  }
  Bytes OffsetOf(const Block* block) const {
    return block->address - segment_->reservation().address();
  }

  CallFailures failures_;
  MemoryVmm vmm_;
  BlockArena arena_;
  AllocationObserver silent_;
  MappingAccount account_{DeviceIndex{0}, silent_};
  std::unique_ptr<ExpandableSegment> segment_;
};

TEST_F(ExpandableSegmentTest, GrowthMapsOnlyTheMissingGranules) {
  Allocate(3_MiB);
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xx");
  const Block* block = Allocate(4_MiB);  // 1 MiB is free already: 3 more, so two granules
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xxxx");
  EXPECT_EQ(OffsetOf(block), 3_MiB);
}

TEST_F(ExpandableSegmentTest, GrowthRoundsUpToChunksWithinTheHole) {
  const auto least = segment_->blocks().holes().PlanGrowth(5 * kGranule);
  EXPECT_EQ(least->InChunks(4, kGranule).size, 8 * kGranule);
  EXPECT_EQ(least->InChunks(4, kGranule).address, segment_->reservation().address());
  EXPECT_EQ(least->InChunks(100, kGranule).size, 72 * kGranule);  // all its addresses
  ASSERT_TRUE(segment_->Grow(least->InChunks(4, kGranule)).ok());
  segment_->CheckInvariants();
  EXPECT_EQ(vmm_.live_mappings(), 2u);
}

TEST_F(ExpandableSegmentTest, LastGranuleOfTheCardIsUsable) {
  EXPECT_NE(Allocate(64 * kGranule), nullptr);
  EXPECT_EQ(vmm_.used(), 64 * kGranule);
}

TEST_F(ExpandableSegmentTest, TrimUnmapsWholeFreeChunksOnly) {
  Block* a = Allocate(4 * kGranule);  // one chunk of 4
  Allocate(kGranule);
  Block* c = Allocate(kGranule);
  Free(c);
  Free(a);
  Block* pin = Allocate(1_MiB);  // best fit: the one free granule
  EXPECT_EQ(OffsetOf(pin), 5 * kGranule);
  EXPECT_EQ(segment_->trimmable(), 4 * kGranule);
  EXPECT_EQ(Trim(kAll), 4u);
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "....xx");
}

TEST_F(ExpandableSegmentTest, PartlyUsedChunkStaysMapped) {
  Block* a = Allocate(4 * kGranule);
  Free(a);
  Allocate(512);
  EXPECT_EQ(Trim(kAll), 0u);
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xxxx");
}

TEST_F(ExpandableSegmentTest, TrimUnmapsTheHighestChunksFirstUntilEnough) {
  Block* block = Allocate(7 * kGranule);  // chunks of 4, 2, 1
  Free(block);
  EXPECT_EQ(Trim(2 * kGranule), 3u);
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xxxx");
}

TEST_F(ExpandableSegmentTest, HoleIsFilledBetweenItsFreeNeighbours) {
  Block* a = Allocate(2 * kGranule);
  Block* b = Allocate(2 * kGranule);
  Block* c = Allocate(2 * kGranule);
  Free(b);
  Trim(kAll);
  ASSERT_EQ(segment_->reservation().chunks().Picture(), "xx..xx");
  Free(a);
  const Block* big = Allocate(4 * kGranule);  // two free granules below, two in the hole
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xxxxxx");
  EXPECT_EQ(OffsetOf(big), 0u);
  Free(c);
}

TEST_F(ExpandableSegmentTest, FewestGranulesArePreferredToTheLowestAddress) {
  Block* a = Allocate(2 * kGranule);
  Allocate(kGranule);
  Block* tail = Allocate(3 * kGranule);
  Free(a);
  Trim(kAll);
  ASSERT_EQ(segment_->reservation().chunks().Picture(), "..xxxx");
  Free(tail);
  Allocate(4 * kGranule);  // one granule after the free tail
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "..xxxxx");
}

TEST_F(ExpandableSegmentTest, TopOfAHoleIsMappedIfCheaper) {
  Block* a = Allocate(5 * kGranule);  // chunks of 4 and 1
  Block* b = Allocate(2 * kGranule);
  Allocate(kGranule);
  Free(a);
  Trim(kAll);
  ASSERT_EQ(segment_->reservation().chunks().Picture(), ".....xxx");
  Free(b);
  const Block* block = Allocate(3 * kGranule);
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "....xxxx");
  EXPECT_EQ(OffsetOf(block), 4 * kGranule);
}

TEST_F(ExpandableSegmentTest, ObtainableIsTheLargestRequestThatSucceeds) {
  Allocate(60 * kGranule + 1_MiB);
  const Bytes available = vmm_.MemoryInfo()->free;
  EXPECT_EQ(segment_->blocks().holes().Obtainable(available), 3 * kGranule + 1_MiB);
  EXPECT_EQ(segment_->blocks().holes().PlanGrowth(3 * kGranule + 1_MiB)->size, available);
}

TEST_F(ExpandableSegmentTest, FailedGrowthLeavesNothingMapped) {
  Allocate(3_MiB);
  // 37 granules are chunks of 32, 4 and 1, with three calls each; the tenth call gives access to
  // all.
  for (uint64_t nth = 1; nth <= 10; ++nth) {
    const auto growth = segment_->blocks().holes().PlanGrowth(75_MiB);
    failures_.FailNthOfAny(nth, CallFailures::Repeat::kOnce, absl::InternalError("injected"));
    const bool is_release = nth % 3 == 0;
    EXPECT_EQ(segment_->Grow(*growth).ok(), is_release) << nth;
    segment_->CheckInvariants();
    if (is_release) Trim(kAll);
    EXPECT_EQ(segment_->reservation().chunks().Picture(), "xx") << nth;
    EXPECT_EQ(vmm_.used(), 2 * kGranule) << nth;
    EXPECT_EQ(vmm_.live_mappings(), 1u) << nth;
  }
}

TEST_F(ExpandableSegmentTest, ChunksThatCannotBeUnmappedAreUnmappedLater) {
  const auto growth = segment_->blocks().holes().PlanGrowth(36 * kGranule);
  // create, map, release, create, map: the fifth call and all later ones fail, so undoing also
  // fails.
  failures_.FailNthOfAny(5, CallFailures::Repeat::kFromThenOn, absl::InternalError("injected"));
  EXPECT_FALSE(segment_->Grow(*growth).ok());
  segment_->CheckInvariants();
  EXPECT_EQ(segment_->reservation().mapped(), 0u);
  EXPECT_EQ(vmm_.used(), 36 * kGranule);
  EXPECT_FALSE(segment_->Grow(*growth).ok());
  failures_.StopFailing();
  EXPECT_TRUE(segment_->Grow(*growth).ok());
  EXPECT_EQ(segment_->reservation().mapped(), 36 * kGranule);
  EXPECT_EQ(vmm_.used(), 36 * kGranule);
}

TEST_F(ExpandableSegmentTest, FailedUnmapKeepsTheRestMapped) {
  Free(Allocate(7 * kGranule));
  failures_.FailNth(DriverCall::kUnmap, 2, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_FALSE(segment_->Trim(kAll).ok());
  segment_->CheckInvariants();
  EXPECT_EQ(segment_->reservation().chunks().Picture(), "xxxxxx");
  EXPECT_EQ(Trim(kAll), 6u);
}

TEST_F(ExpandableSegmentTest, DestructorReleasesEverything) {
  Allocate(5 * kGranule);
  segment_.reset();
  EXPECT_EQ(vmm_.live_mappings() + vmm_.live_chunks() + vmm_.live_reservations(), 0u);
  EXPECT_EQ(arena_.live(), 0u);
}

}  // namespace
}  // namespace memtrace
