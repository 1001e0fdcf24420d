// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/caching_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CachingAllocatorTest, FreedBlockIsReusedWithoutTheDriver) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(5_MiB);
  EXPECT_TRUE(card.Free(address).ok());
  const uint64_t calls = card.failures.calls();
  EXPECT_EQ(card.Allocate(5_MiB), address);
  EXPECT_EQ(card.failures.calls(), calls);
}

TEST(CachingAllocatorTest, SmallAndLargeLiveInDifferentSegments) {
  Card card(64_MiB);
  card.Allocate(1_MiB);
  card.Allocate(1_MiB + 1);
  EXPECT_THAT(card.Contents(), ElementsAre("1 small: 1MiB (1MiB)", "1 large: 1049088B (1048064B)"));
}

TEST(CachingAllocatorTest, BestFitLeavesTheLargeRangeWhole) {
  Card card(64_MiB);
  const DeviceAddress large = card.Allocate(20_MiB);
  card.Allocate(2_MiB);
  const DeviceAddress small = card.Allocate(4_MiB);
  card.Allocate(2_MiB);
  EXPECT_TRUE(card.Free(large).ok());
  EXPECT_TRUE(card.Free(small).ok());
  EXPECT_EQ(card.Allocate(3_MiB), small);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (20MiB) 2MiB 3MiB (1MiB) 2MiB"));
}

TEST(CachingAllocatorTest, NeighboursMergeWhenFreed) {
  Card card(64_MiB);
  const std::vector<DeviceAddress> blocks = card.AllocateMany(3, 2_MiB);
  EXPECT_TRUE(card.Free(blocks[0]).ok());
  EXPECT_TRUE(card.Free(blocks[2]).ok());
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (2MiB) 2MiB (2MiB)"));
  EXPECT_TRUE(card.Free(blocks[1]).ok());
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (6MiB)"));
}

TEST(CachingAllocatorTest, StreamsDoNotShareFreeMemory) {
  Card card(64_MiB);
  const DeviceAddress on_main = card.Allocate(4_MiB, kMain);
  EXPECT_TRUE(card.Free(on_main).ok());
  EXPECT_NE(card.Allocate(4_MiB, kSide), on_main);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (4MiB)", "2 large: 4MiB"));
}

TEST(CachingAllocatorTest, SharedBlockWaitsForTheOtherStream) {
  Card card(64_MiB);
  const DeviceAddress shared = card.Allocate(4_MiB);
  EXPECT_TRUE(card.Share(shared, 4_MiB, kSide).ok());
  EXPECT_TRUE(card.Free(shared).ok());
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 4MiB?"));
  EXPECT_EQ(card.allocator.accounts().ledger().stream_wait, 4_MiB);
  EXPECT_NE(card.Allocate(4_MiB), shared);
  card.streams.Finish(kSide);
  EXPECT_EQ(card.Allocate(4_MiB), shared);
}

TEST(CachingAllocatorTest, RecordingTheOwnStreamDefersNoFree) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(4_MiB);
  EXPECT_TRUE(card.Share(address, 4_MiB, kMain).ok());
  EXPECT_TRUE(card.Free(address).ok());
  EXPECT_EQ(card.Allocate(4_MiB), address);
}

TEST(CachingAllocatorTest, AddressNotInUseIsNotFound) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(4_MiB);
  EXPECT_EQ(card.Free(address + 512).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(card.Free(address).ok());
  EXPECT_EQ(card.Free(address).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(card.allocator.RecordStream(address, kSide).code(), absl::StatusCode::kNotFound);
}

// Frees two adjacent blocks of 4 MiB, which are not merged yet; the block after them is in use.
std::pair<DeviceAddress, DeviceAddress> FreeTwoNeighbours(Card& card) {
  const DeviceAddress first = card.Allocate(4_MiB);
  const DeviceAddress second = card.Allocate(4_MiB);
  card.Allocate(2_MiB);
  EXPECT_TRUE(card.Free(first).ok());
  EXPECT_TRUE(card.Free(second).ok());
  return {first, second};
}

TEST(CachingAllocatorTest, MergedBlockCannotBeFreedAgainAfterItsRecordIsReused) {
  Card card(64_MiB);
  const auto [first, second] = FreeTwoNeighbours(card);
  card.allocator.accounts().ledger();  // merges them
  EXPECT_EQ(card.Free(second).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(card.Allocate(6_MiB), first);
  EXPECT_EQ(card.Allocate(1_MiB + 512), first + 6_MiB);  // cut off by the record of `second`
  EXPECT_EQ(card.Free(second).code(), absl::StatusCode::kNotFound);
  card.allocator.CheckInvariants();
}

TEST(CachingAllocatorTest, LastFreedBlockOfTheSameSizeIsUsedFirst) {
  Card card(64_MiB);
  const auto [first, second] = FreeTwoNeighbours(card);
  EXPECT_EQ(card.Allocate(4_MiB), second);
  EXPECT_TRUE(card.Free(second).ok());
  // For another size both are merged into one range, and nothing is mapped.
  EXPECT_EQ(card.Allocate(8_MiB), first);
  EXPECT_EQ(card.vmm.used(), 10_MiB);
}

TEST(CachingAllocatorTest, FreeBlocksHaveNoContextAndNoRequestedSize) {
  Card card(64_MiB);
  const auto result = card.allocator.Allocate(3_MiB, kMain, ContextId{7});
  EXPECT_TRUE(card.Free(std::get<DeviceAddress>(result)).ok());
  for (const SegmentView& segment : card.allocator.Snapshot()) {
    for (const BlockView& block : segment.blocks) {
      EXPECT_EQ(block.requested, 0u);
      EXPECT_EQ(block.context, ContextId{});
    }
  }
}

TEST(FullCardTest, HoleOfTheOtherSizeClassIsUsedBeforeFailing) {
  Card card(6_MiB);
  const DeviceAddress large = card.Allocate(3_MiB);  // of two granules
  const DeviceAddress small = card.Allocate(512_KiB);
  EXPECT_EQ(card.Allocate(1536_KiB), small + 512_KiB);
  EXPECT_EQ(card.Allocate(768_KiB), large + 3_MiB);
  EXPECT_EQ(card.FailToAllocate(1_MiB).obtainable, 256_KiB);
  EXPECT_EQ(card.Allocate(256_KiB), large + 3_MiB + 768_KiB);
}

TEST(CachingAllocatorTest, SmallBlocksAreMergedBeforeTheSegmentGrows) {
  Card card(64_MiB);
  std::vector<DeviceAddress> blocks;
  blocks.reserve(4);
  for (int i = 0; i < 4; ++i) blocks.push_back(card.Allocate(512_KiB));
  for (const DeviceAddress block : blocks) EXPECT_TRUE(card.Free(block).ok());
  EXPECT_EQ(card.Allocate(1_MiB), blocks[0]);
  EXPECT_EQ(card.vmm.used(), 2_MiB);
}

TEST(CachingAllocatorTest, ObserverReceivesAllEventsInOrder) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(3_MiB);
  EXPECT_THAT(card.observer.Lines(),
              ElementsAre("reserved 72MiB", "mapped 4MiB", "allocated 3MiB"));
  EXPECT_TRUE(card.Share(address, 3_MiB, kSide).ok());
  EXPECT_TRUE(card.Free(address).ok());
  EXPECT_THAT(card.observer.Lines(), ElementsAre("free requested 3MiB"));
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_THAT(card.observer.Lines(), ElementsAre("free completed 3MiB", "unmapped 4MiB"));
}

TEST(CachingAllocatorTest, StatisticsCountAsTorchDoes) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(700);
  EXPECT_TRUE(card.Share(address, 700, kSide).ok());
  EXPECT_TRUE(card.Free(address).ok());
  const Statistics waiting = card.allocator.accounts().statistics();
  EXPECT_EQ(waiting.allocation.small_pool.current, 0);
  EXPECT_EQ(waiting.allocated_bytes.all.current, 0);
  EXPECT_EQ(waiting.active.all.current, 1);
  EXPECT_EQ(waiting.active_bytes.all.current, 1024);
  EXPECT_EQ(waiting.requested_bytes.all.current, 700);
  EXPECT_EQ(waiting.reserved_bytes.small_pool.current, 2 << 20);
  EXPECT_EQ(waiting.segment.all.current, 1);
  EXPECT_EQ(waiting.num_device_alloc, 1);
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  const Statistics empty = card.allocator.accounts().statistics();
  EXPECT_EQ(empty.active_bytes.all.current, 0);
  EXPECT_EQ(empty.requested_bytes.all.current, 0);
  EXPECT_EQ(empty.reserved_bytes.all.current, 0);
  EXPECT_EQ(empty.segment.all.current, 0);
  EXPECT_EQ(empty.reserved_bytes.all.peak, 2 << 20);
  EXPECT_EQ(empty.num_device_free, 1);
  EXPECT_EQ(empty.inactive_split.all.peak, 0);
}

TEST(CachingAllocatorTest, ResettingStatisticsKeepsCurrentValues) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(4_MiB);
  card.Allocate(2_MiB);
  EXPECT_TRUE(card.Free(address).ok());
  card.allocator.accounts().ResetPeak();
  card.allocator.accounts().ResetAccumulated();
  const Statistics statistics = card.allocator.accounts().statistics();
  EXPECT_EQ(statistics.allocated_bytes.all.peak, 2 << 20);
  EXPECT_EQ(statistics.allocated_bytes.all.current, 2 << 20);
  EXPECT_EQ(statistics.allocated_bytes.all.allocated, 0);
  EXPECT_EQ(statistics.num_device_alloc, 0);
}

TEST(CachingAllocatorTest, EmptyCacheKeepsChunksThatArePartlyInUse) {
  Card card(64_MiB);
  const DeviceAddress first = card.Allocate(8_MiB);
  card.Allocate(512);
  EXPECT_TRUE(card.Free(first).ok());
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_THAT(card.Contents(), ElementsAre("1 small: 512B (2096640B)"));
  EXPECT_EQ(card.allocator.accounts().ledger().holes, 2_MiB - 512);
  EXPECT_EQ(card.allocator.accounts().ledger().cached, 0u);
}

TEST(CachingAllocatorTest, LedgerSplitsFreeMemoryIntoCachedAndHoles) {
  Card card(64_MiB);
  const DeviceAddress a = card.Allocate(4_MiB);
  card.Allocate(3_MiB);
  EXPECT_TRUE(card.Free(a).ok());
  const AllocatorLedger ledger = card.allocator.accounts().ledger();
  EXPECT_EQ(ledger.reserved, 8_MiB);
  EXPECT_EQ(ledger.live_allocated, 3_MiB);
  EXPECT_EQ(ledger.cached, 4_MiB);
  EXPECT_EQ(ledger.holes, 1_MiB);
  EXPECT_EQ(ledger.largest_hole, 4_MiB);
}

TEST(CachingAllocatorTest, BaseAllocationIsTheBlockAroundAnAddress) {
  Card card(64_MiB);
  card.Allocate(3_MiB);
  const DeviceAddress second = card.Allocate(2_MiB);
  const auto range = card.allocator.sharing().BaseAllocation(second + 12345);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, second);
  EXPECT_EQ(range->size(), 2_MiB);
  EXPECT_FALSE(card.allocator.sharing().BaseAllocation(second + 2_MiB).has_value());
  EXPECT_FALSE(card.allocator.sharing().BaseAllocation(DeviceAddress{1}).has_value());
}

TEST(CachingAllocatorTest, SecondReservationIsMadeIfTheFirstIsFragmented) {
  Card card(32_MiB);  // 36 MiB of addresses
  const std::vector<DeviceAddress> blocks = card.AllocateMany(7, 4_MiB);
  for (const size_t i : {0u, 1u, 2u, 4u, 5u, 6u}) EXPECT_TRUE(card.Free(blocks[i]).ok());
  // 28 MiB are free, but the pinned block leaves no contiguous 26 MiB in the first reservation.
  card.Allocate(26_MiB);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: (2MiB)", "1 large: 4MiB", "1 large: 26MiB"));
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(CachingAllocatorTest, DestructorFreesEverythingOnTheCard) {
  CallFailures failures;
  MemoryStreams streams(&failures);
  MemoryVmm vmm({.capacity = 64_MiB}, &streams, &failures);
  AllocationObserver silent;
  {
    CachingAllocator allocator({}, vmm, streams, silent);
    for (const StreamId stream : {kMain, kSide}) {
      const auto address = std::get<DeviceAddress>(allocator.Allocate(5_MiB, stream));
      vmm.NoteUse(address, 5_MiB, streams.Queue(StreamId{3}));
      EXPECT_TRUE(allocator.RecordStream(address, StreamId{3}).ok());
      EXPECT_TRUE(allocator.Free(address).ok());
      allocator.Allocate(100, stream);
    }
  }
  EXPECT_EQ(vmm.live_mappings() + vmm.live_chunks() + vmm.live_reservations(), 0u);
  EXPECT_EQ(vmm.used(), 0u);
  EXPECT_EQ(streams.live_events(), 0u);
  EXPECT_THAT(vmm.faults(), IsEmpty());
}

TEST(CachingAllocatorTest, SumsAreExactAfterConcurrentUse) {
  Card card(1_GiB);
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&card, t] {
      std::vector<DeviceAddress> blocks;
      for (uint64_t i = 0; i < 5'000; ++i) {
        // Every second block goes to the neighbour's stream.
        const Bytes bytes = 1 + (i * 7919 * t) % 3_MiB;
        const auto result = card.allocator.Allocate(bytes, StreamId{t + i % 2}, ContextId{i});
        blocks.push_back(std::get<DeviceAddress>(result));
        EXPECT_TRUE(i % 3 != 0 || card.allocator.RecordStream(blocks.back(), kSide).ok());
        if (blocks.size() < 20) continue;
        for (const DeviceAddress block : blocks) EXPECT_TRUE(card.allocator.Free(block).ok());
        blocks.clear();
      }
      for (const DeviceAddress block : blocks) EXPECT_TRUE(card.allocator.Free(block).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  card.allocator.CheckInvariants();
  const Statistics statistics = card.allocator.accounts().statistics();
  EXPECT_EQ(statistics.allocation.all.allocated, kThreads * 5'000);
  EXPECT_EQ(statistics.allocation.all.current, 0);
  EXPECT_EQ(statistics.allocated_bytes.all.current, 0);
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_EQ(card.vmm.used(), 0u);
}

}  // namespace
}  // namespace memtrace
