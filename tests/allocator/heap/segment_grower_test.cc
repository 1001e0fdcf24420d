// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/segment_grower.h"

#include <gtest/gtest.h>

#include <utility>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/plan/plan.h"
#include "allocator/pools/quick_groups.h"

namespace memtrace {
namespace {

constexpr StreamId kOwnStream{1};
constexpr Bytes kUnlimited = ~Bytes{0};
constexpr DeviceAddress kNoPlace;

class SegmentGrowerTest : public ::testing::Test {
 protected:
  // Named, because clang 14 takes no literal operator as a default argument.
  static constexpr Bytes kUsual = 64_MiB;
  explicit SegmentGrowerTest(Bytes capacity = kUsual)
      : vmm_({.capacity = capacity}, nullptr, &failures_) {}

  SegmentGroup& Group(bool small = false) {
    return groups_.Of({kOwnStream, PoolId{}, small}, nullptr);
  }
  Block* Grow(Bytes size, bool small = false) {
    const auto block = grower_.TryGrow(Group(small), size);
    EXPECT_TRUE(block.ok()) << block.status();
    return block.value_or(nullptr);
  }
  uint64_t Calls(DriverCall call) const { return failures_.calls(call); }

  CallFailures failures_;
  MemoryVmm vmm_;
  MemoryStreams streams_;
  AllocationObserver silent_;
  Accounting accounting_{DeviceIndex{0}, silent_};
  QuickGroups quick_;
  SegmentGroups groups_{vmm_, streams_, accounting_, quick_};
  CardRoom room_{kUnlimited, vmm_, accounting_.mapping()};
  SegmentGrower grower_{vmm_, groups_, room_};
};

TEST_F(SegmentGrowerTest, FirstGrowthReservesASegmentAndLaterOnesGrowIt) {
  const Block* first = Grow(3_MiB);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->is(Block::State::kAllocated));
  EXPECT_EQ(first->size, 3_MiB);
  const Block* second = Grow(4_MiB);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->segment, first->segment);
  EXPECT_EQ(vmm_.live_reservations(), 1u);
  EXPECT_EQ(vmm_.used(), 8_MiB);  // 1 MiB was left of the first growth
}

TEST_F(SegmentGrowerTest, FullCardReturnsNullWithoutMapping) {
  Grow(60_MiB);
  const uint64_t creations = Calls(DriverCall::kCreate);
  EXPECT_EQ(Grow(6_MiB), nullptr);
  EXPECT_EQ(Calls(DriverCall::kCreate), creations);
  EXPECT_EQ(vmm_.used(), 60_MiB);
  EXPECT_NE(Grow(4_MiB), nullptr);
}

TEST_F(SegmentGrowerTest, RequestLargerThanTheCardReservesNothing) {
  EXPECT_EQ(Grow(64_MiB + 512), nullptr);
  EXPECT_EQ(vmm_.live_reservations(), 0u);
}

TEST_F(SegmentGrowerTest, GrowthBeyondTheLimitReturnsNullWithoutTheDriver) {
  Grow(20_MiB);
  room_.SetLimit(30_MiB);
  const uint64_t calls = failures_.calls();
  EXPECT_EQ(Grow(12_MiB), nullptr);
  EXPECT_EQ(failures_.calls(), calls);
  EXPECT_NE(Grow(10_MiB), nullptr);
}

TEST_F(SegmentGrowerTest, DriverErrorIsReturnedAndChangesNothing) {
  Grow(8_MiB);
  for (const DriverCall call : {DriverCall::kCreate, DriverCall::kMap, DriverCall::kGiveAccess}) {
    failures_.FailNth(call, 1, CallFailures::Repeat::kOnce, absl::InternalError("injected"));
    EXPECT_EQ(grower_.TryGrow(Group(), 8_MiB).status().code(), absl::StatusCode::kInternal);
    EXPECT_EQ(vmm_.used(), 8_MiB);
    EXPECT_EQ(accounting_.mapping().reserved(), 8_MiB);
    Group().CheckInvariants();
  }
}

TEST_F(SegmentGrowerTest, FailedReservationIsReported) {
  failures_.FailNth(DriverCall::kReserve, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_EQ(grower_.TryGrow(Group(), 8_MiB).status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(Grow(8_MiB), nullptr);
}

TEST_F(SegmentGrowerTest, ShortfallIsMeasuredAgainstCardAndLimit) {
  Grow(60_MiB);
  EXPECT_EQ(grower_.Shortfall(Group(), 10_MiB, kNoPlace), 6_MiB);
  room_.SetLimit(62_MiB);
  EXPECT_EQ(grower_.Shortfall(Group(), 10_MiB, kNoPlace), 8_MiB);
}

TEST_F(SegmentGrowerTest, ShortfallIsTheWholeRequestIfTheCardHasRoom) {
  Grow(40_MiB);
  EXPECT_EQ(grower_.Shortfall(Group(), 10_MiB, kNoPlace), 10_MiB);
}

TEST_F(SegmentGrowerTest, ShortfallIsEverythingIfTheCardIsTooSmallOrUnreadable) {
  EXPECT_EQ(grower_.Shortfall(Group(), 65_MiB, kNoPlace), SegmentGroups::kEverything);
  failures_.FailNth(DriverCall::kMemoryInfo, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_EQ(grower_.Shortfall(Group(), 2_MiB, kNoPlace), SegmentGroups::kEverything);
}

TEST_F(SegmentGrowerTest, GroupWithoutAPlanHasNoPlannedPlaces) {
  EXPECT_TRUE(grower_.NextPlannedAddress(Group(), 4_MiB).is_null());
  EXPECT_EQ(grower_.TryPlace(Group(), 4_MiB, kNoPlace, kUnlimited).value(), nullptr);
  EXPECT_EQ(grower_.TrySpare(Group(), 4_MiB).value(), nullptr);
  EXPECT_EQ(failures_.calls(), 0u);
}

// A card on which a chunk has 32 granules while the card is empty.
class LargeCardTest : public SegmentGrowerTest {
 protected:
  LargeCardTest() : SegmentGrowerTest(80_GiB) {}
};

TEST_F(LargeCardTest, LargeRequestsGrowByLargeChunks) {
  Grow(3_MiB);
  EXPECT_EQ(vmm_.live_mappings(), 1u);
  EXPECT_EQ(vmm_.used(), 64_MiB);
}

TEST_F(LargeCardTest, SmallRequestsGrowByGranules) {
  Grow(512, /*small=*/true);
  EXPECT_EQ(vmm_.used(), 2_MiB);
}

TEST_F(LargeCardTest, OnlyTheNeededBytesAreMappedIfALargeChunkFails) {
  Grow(64_MiB);
  ASSERT_TRUE(vmm_.Create(80_GiB - 64_MiB - 40_MiB).ok());  // another process's
  const size_t mappings = vmm_.live_mappings();
  EXPECT_NE(Grow(39_MiB), nullptr);
  EXPECT_EQ(vmm_.used(), 80_GiB);
  EXPECT_EQ(vmm_.live_mappings() - mappings, 20u);
}

TEST_F(LargeCardTest, OnlyTheNeededBytesAreMappedIfTheLimitIsNear) {
  room_.SetLimit(79_GiB);  // not a multiple of the chunks, which have 29 granules then
  EXPECT_NE(Grow(79_GiB), nullptr);
  EXPECT_EQ(vmm_.used(), 79_GiB);
}

// A plan of two requests of 4 MiB, the second below the first, with a gap of 8 MiB.
class PlannedGrowthTest : public SegmentGrowerTest {
 protected:
  PlannedGrowthTest() {
    PlanSection section;
    section.items = {{4_MiB, 12_MiB}, {4_MiB, 0}};
    section.bytes = 16_MiB;
    EXPECT_TRUE(Plan::Check(section).ok());
    plan_.Add(std::move(section));
    groups_.Follow(plan_, DeviceIndex{0});
  }

  Block* Place(DeviceAddress place, Bytes most = kUnlimited) {
    const auto block = grower_.TryPlace(Group(), 4_MiB, place, most);
    EXPECT_TRUE(block.ok()) << block.status();
    return block.value_or(nullptr);
  }

  Plan plan_;
};

TEST_F(PlannedGrowthTest, PlannedPlacesAreMappedWhenTaken) {
  const DeviceAddress first = grower_.NextPlannedAddress(Group(), 4_MiB);
  const DeviceAddress second = grower_.NextPlannedAddress(Group(), 4_MiB);
  EXPECT_EQ(first - second, 12_MiB);
  EXPECT_EQ(vmm_.used(), 0u);
  EXPECT_EQ(Place(first)->address, first);
  EXPECT_EQ(vmm_.used(), 4_MiB);
  EXPECT_EQ(Place(second)->address, second);
  EXPECT_EQ(vmm_.used(), 8_MiB);
}

TEST_F(PlannedGrowthTest, UnexpectedSizeHasNoPlace) {
  EXPECT_TRUE(grower_.NextPlannedAddress(Group(), 6_MiB).is_null());
  EXPECT_EQ(vmm_.live_reservations(), 0u);
}

TEST_F(PlannedGrowthTest, PlaceInUseReturnsNull) {
  const DeviceAddress place = grower_.NextPlannedAddress(Group(), 4_MiB);
  ASSERT_NE(Place(place), nullptr);
  EXPECT_EQ(Place(place), nullptr);
}

TEST_F(PlannedGrowthTest, PlaceBeyondTheAllowedBytesIsNotMapped) {
  const DeviceAddress place = grower_.NextPlannedAddress(Group(), 4_MiB);
  EXPECT_EQ(Place(place, 4_MiB - 1), nullptr);
  room_.SetLimit(4_MiB - 1);
  EXPECT_EQ(Place(place), nullptr);
  EXPECT_EQ(Calls(DriverCall::kCreate), 0u);
  room_.SetLimit(4_MiB);
  EXPECT_NE(Place(place, 4_MiB), nullptr);
}

TEST_F(PlannedGrowthTest, SpareMemoryIsMappedIfNothingIsFree) {
  grower_.NextPlannedAddress(Group(), 4_MiB);
  const auto block = grower_.TrySpare(Group(), 6_MiB);
  ASSERT_TRUE(block.ok());
  ASSERT_NE(*block, nullptr);
  EXPECT_TRUE((*block)->segment->shape().is_planned);
  EXPECT_EQ(vmm_.used(), 6_MiB);
  EXPECT_EQ(grower_.TrySpare(Group(), 12_MiB).value(), nullptr);  // 10 MiB are left
}

TEST_F(PlannedGrowthTest, ShortfallOfAPlaceIsItsUnmappedPart) {
  const DeviceAddress place = grower_.NextPlannedAddress(Group(), 4_MiB);
  ExpandableSegment& segment = *Group().planned()->segment();
  ASSERT_TRUE(segment.Grow({segment.blocks().holes().At(place), place, 2_MiB}).ok());
  ASSERT_TRUE(vmm_.Create(62_MiB).ok());  // another process's
  EXPECT_EQ(grower_.Shortfall(Group(), 4_MiB, place), 2_MiB);
  EXPECT_EQ(Place(place), nullptr);
}

}  // namespace
}  // namespace memtrace
