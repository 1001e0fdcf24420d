// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocator with a plan: blocks are placed where it says, and a wrong plan is harmless.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "allocator/plan/plan.h"
#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Item {
  Bytes size, offset;
};

PlanSection SectionOf(const std::vector<Item>& items, size_t prologue = 0) {
  PlanSection section;
  section.prologue = prologue;
  for (const auto& [size, offset] : items) {
    section.items.push_back({size, offset});
    section.bytes = std::max(section.bytes, offset + size);
  }
  return section;
}

CachingAllocator::Options Following(PlanSection section) {
  auto plan = std::make_shared<Plan>();
  EXPECT_TRUE(Plan::Check(section).ok());
  plan->Add(std::move(section));
  return {.plan = std::move(plan)};
}

CachingAllocator::Options Following(const std::vector<Item>& items, size_t prologue = 0) {
  return Following(SectionOf(items, prologue));
}

void Free(Card& card, const std::vector<DeviceAddress>& blocks) {
  for (const DeviceAddress block : blocks) EXPECT_TRUE(card.Free(block).ok());
}

TEST(PlannedAllocatorTest, BlocksArePlacedAsPlanned) {
  Card card(128_MiB, Following({{4_MiB, 12_MiB}, {8_MiB, 0}, {4_MiB, 8_MiB}}));
  const auto blocks = {card.Allocate(4_MiB), card.Allocate(8_MiB), card.Allocate(4_MiB)};
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 8MiB 4MiB 4MiB"));
  EXPECT_EQ(*blocks.begin() - *(blocks.begin() + 1), 12_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{3, 0}));
}

TEST(PlannedAllocatorTest, OnlyChunksOfPlacedBlocksAreMapped) {
  Card card(128_MiB, Following({{3_MiB, 5_MiB}, {60_MiB, 8_MiB}}));
  card.Allocate(3_MiB);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (1MiB) 3MiB"));
  EXPECT_EQ(card.vmm.used(), 4_MiB);
}

TEST(PlannedAllocatorTest, RequestsMatchByRoundedSize) {
  Card card(128_MiB, Following({{4_MiB, 4_MiB}}));
  card.Allocate(4_MiB - 511);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{1, 0}));
}

TEST(PlannedAllocatorTest, CycleRepeatsWithoutDriverCalls) {
  Card card(128_MiB, Following({{6_MiB, 0}, {4_MiB, 10_MiB}, {4_MiB, 6_MiB}, {8_MiB, 6_MiB}}, 1));
  card.Allocate(6_MiB);
  for (int step = 0; step < 5; ++step) {
    const uint64_t calls = card.failures.calls(DriverCall::kMap);
    const DeviceAddress first = card.Allocate(4_MiB);
    const DeviceAddress second = card.Allocate(4_MiB);
    Free(card, {first, second});
    Free(card, {card.Allocate(8_MiB)});
    EXPECT_TRUE(step == 0 || card.failures.calls(DriverCall::kMap) == calls);
  }
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 6MiB (8MiB)"));
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{16, 0}));
}

TEST(PlannedAllocatorTest, SmallRequestsAreNotPlanned) {
  Card card(128_MiB, Following({{4_MiB, 0}, {4_MiB, 4_MiB}}));
  card.Allocate(4_MiB);
  card.Allocate(512);
  card.Allocate(4_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{2, 0}));
}

TEST(PlannedAllocatorTest, UnplannedSizesArePlacedAsUsual) {
  Card card(128_MiB, Following({{4_MiB, 0}, {8_MiB, 4_MiB}}));
  card.Allocate(4_MiB);
  card.Allocate(10_MiB);
  card.Allocate(8_MiB);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 4MiB 8MiB", "1 large: 10MiB"));
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{2, 1}));
}

TEST(PlannedAllocatorTest, PlaceInUseFallsBackToUsualPlacement) {
  Card card(128_MiB, Following({{4_MiB, 0}, {8_MiB, 0}, {4_MiB, 8_MiB}}));
  card.Allocate(4_MiB);
  card.Allocate(8_MiB);
  card.Allocate(4_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{2, 1}));
  EXPECT_EQ(card.allocator.accounts().ledger().live_allocated, 16_MiB);
}

TEST(PlannedAllocatorTest, PlaceThatWaitsForAnotherStreamCountsAsInUse) {
  Card card(128_MiB, Following({{4_MiB, 0}, {4_MiB, 0}, {4_MiB, 0}}));
  const DeviceAddress first = card.Allocate(4_MiB);
  EXPECT_TRUE(card.Share(first, 4_MiB, kSide).ok());
  Free(card, {first});
  EXPECT_NE(card.Allocate(4_MiB), first);
  card.streams.Finish(kSide);
  EXPECT_EQ(card.Allocate(4_MiB), first);
}

TEST(PlannedAllocatorTest, EachStreamHasItsSection) {
  auto plan = std::make_shared<Plan>();
  PlanSection section = SectionOf({{4_MiB, 4_MiB}});
  plan->Add(section);
  section.stream = 1;
  section.items = {{8_MiB, 2_MiB}};
  section.bytes = 10_MiB;
  plan->Add(section);
  Card card(128_MiB, {.plan = plan});
  card.Allocate(4_MiB, kSide);  // the first stream with a request follows the first section
  card.Allocate(8_MiB, kMain);
  card.Allocate(8_MiB, StreamId{7});  // more than the plan has
  EXPECT_THAT(card.Contents(), ElementsAre("2 large: 4MiB", "1 large: 8MiB", "7 large: 8MiB"));
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{2, 0}));
}

TEST(PlannedAllocatorTest, PoolsAreNotPlanned) {
  Card card(128_MiB, Following({{4_MiB, 0}, {4_MiB, 4_MiB}}));
  card.allocator.pools().Retain({0, 1});
  ASSERT_TRUE(card.allocator.pools().BeginRouting({0, 1}, [](StreamId) { return true; }).ok());
  card.Allocate(4_MiB);
  ASSERT_TRUE(card.allocator.pools().EndRouting({0, 1}).ok());
  EXPECT_EQ(card.allocator.accounts().plan_use(), PlanUse{});
  card.Allocate(4_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{1, 0}));
}

TEST(PlannedAllocatorTest, PlanLargerThanTheCardIsFollowedUntilTheCardIsFull) {
  Card card(64_MiB, Following({{4_MiB, 100_MiB}, {32_MiB, 0}, {32_MiB, 32_MiB}}));
  card.Allocate(4_MiB);
  card.Allocate(32_MiB);
  const OutOfMemoryEvent event = card.FailToAllocate(32_MiB);
  EXPECT_EQ(event.obtainable, 28_MiB);
  card.Allocate(28_MiB);
  EXPECT_EQ(card.vmm.used(), 64_MiB);
}

TEST(PlannedAllocatorTest, FreePlannedMemoryIsUsedBeforeARequestFails) {
  Card card(64_MiB, Following({{33_MiB, 0}, {20_MiB, 33_MiB}}));
  Free(card, {card.Allocate(33_MiB)});
  card.Allocate(20_MiB);  // its chunk also covers the hole
  const uint64_t unmapped = card.failures.calls(DriverCall::kUnmap);
  card.Allocate(30_MiB);
  EXPECT_EQ(card.failures.calls(DriverCall::kUnmap), unmapped);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 30MiB (3MiB) 20MiB (1MiB)"));
}

TEST(PlannedAllocatorTest, FreePlannedMemoryIsReclaimedForOtherStreams) {
  Card card(64_MiB, Following({{40_MiB, 0}}));
  Free(card, {card.Allocate(40_MiB)});
  card.Allocate(60_MiB, kSide);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (4MiB)", "2 large: 60MiB"));
}

TEST(PlannedAllocatorTest, OrdinaryMemoryIsReclaimedBeforePlanned) {
  Card card(64_MiB, Following({{20_MiB, 0}, {4_MiB, 20_MiB}}));
  const DeviceAddress planned = card.Allocate(20_MiB);
  const DeviceAddress other = card.Allocate(30_MiB);
  Free(card, {planned, other});
  card.Allocate(40_MiB, kSide);
  EXPECT_THAT(card.Contents(),
              ElementsAre("1 large: (20MiB)", "1 large: (4MiB)", "2 large: 40MiB"));
}

TEST(PlannedAllocatorTest, MemoryIsReclaimedForAPlannedPlace) {
  Card card(64_MiB, Following({{40_MiB, 0}, {40_MiB, 0}}));
  Free(card, {card.Allocate(40_MiB)});
  Free(card, {card.Allocate(64_MiB, kSide)});
  card.Allocate(40_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{2, 0}));
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 40MiB", "2 large: (24MiB)"));
}

TEST(PlannedAllocatorTest, PlaceWithHolesIsFilled) {
  Card card(64_MiB, Following({{4_MiB, 4_MiB}, {4_MiB, 12_MiB}, {20_MiB, 0}, {20_MiB, 0}}));
  const auto first = card.Allocate(4_MiB);
  const auto second = card.Allocate(4_MiB);
  Free(card, {first, second});
  card.Allocate(20_MiB);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 20MiB"));
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{3, 0}));
}

TEST(PlannedAllocatorTest, OnlyTheNeededFreesAreWaitedFor) {
  Card card(64_MiB, Following({{40_MiB, 0}, {20_MiB, 40_MiB}}));
  const auto first = card.Allocate(40_MiB);
  const auto second = card.Allocate(20_MiB);
  EXPECT_TRUE(card.Share(first, 40_MiB, kSide).ok());
  EXPECT_TRUE(card.Share(second, 20_MiB, StreamId{3}).ok());
  Free(card, {first, second});
  card.Allocate(38_MiB);
  EXPECT_EQ(card.allocator.accounts().ledger().stream_wait, 20_MiB);
}

TEST(PlannedAllocatorTest, EmptyCacheReleasesPlannedMemory) {
  Card card(64_MiB, Following({{20_MiB, 0}, {20_MiB, 2_MiB}}));
  Free(card, {card.Allocate(20_MiB)});
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_EQ(card.vmm.used(), 0u);
  card.Allocate(20_MiB);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 20MiB"));
}

TEST(PlannedAllocatorTest, LimitAppliesToPlannedMemory) {
  Card card(64_MiB, Following({{20_MiB, 0}, {20_MiB, 20_MiB}}));
  card.allocator.SetLimit(30_MiB);
  card.Allocate(20_MiB);
  EXPECT_EQ(card.FailToAllocate(20_MiB).obtainable, 10_MiB);
  EXPECT_EQ(card.allocator.accounts().ledger().reserved, 20_MiB);
}

TEST(PlannedAllocatorTest, RejectionAppliesToPlannedMemory) {
  Card card(64_MiB, Following({{20_MiB, 0}, {20_MiB, 20_MiB}}));
  card.Allocate(20_MiB);
  const auto result =
      card.allocator.Allocate({.bytes = 20_MiB, .stream = kMain, .reject_above = 30_MiB});
  EXPECT_TRUE(std::get<OutOfMemoryEvent>(result).is_rejected);
  const auto served =
      card.allocator.Allocate({.bytes = 20_MiB, .stream = kMain, .reject_above = 40_MiB});
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(served));
}

// Runs a step whose k-th driver call fails: it returns a block or an error, never breaks an
// invariant, and later requests are served.
TEST(PlannedAllocatorTest, DriverFailuresKeepTheInvariants) {
  for (const auto repeat : {CallFailures::Repeat::kOnce, CallFailures::Repeat::kFromThenOn}) {
    for (uint64_t k = 1; k <= 40; ++k) {
      Card card(64_MiB,
                Following({{20_MiB, 3_MiB}, {4_MiB, 30_MiB}, {30_MiB, 0}, {4_MiB, 40_MiB}}));
      card.failures.FailNthOfAny(k, repeat, absl::InternalError("injected"));
      std::vector<DeviceAddress> blocks;
      for (const Bytes bytes : {20_MiB, 4_MiB, 6_MiB, 30_MiB, 4_MiB}) {
        const AllocationResult result = card.TryAllocate(bytes);
        if (const auto* address = std::get_if<DeviceAddress>(&result)) blocks.push_back(*address);
        if (blocks.size() == 3) Free(card, std::exchange(blocks, {}));
      }
      card.allocator.EmptyCache().IgnoreError();
      card.allocator.CheckInvariants();
      card.failures.StopFailing();
      card.Allocate(25_MiB);
      Free(card, blocks);
      EXPECT_TRUE(card.allocator.EmptyCache().ok());
      EXPECT_THAT(card.vmm.faults(), IsEmpty());
      EXPECT_EQ(card.allocator.accounts().ledger().reserved, card.vmm.used());
    }
  }
}

TEST(PlannedAllocatorTest, PlanIsPostponedIfItsReservationFails) {
  Card card(64_MiB, Following({{4_MiB, 8_MiB}, {8_MiB, 0}}));
  card.failures.FailNthOfAny(1, CallFailures::Repeat::kOnce, absl::InternalError("injected"));
  card.Allocate(4_MiB);
  card.Allocate(8_MiB);
  EXPECT_EQ(card.allocator.accounts().plan_use(), (PlanUse{1, 1}));
}

}  // namespace
}  // namespace memtrace
