// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/observed_memory.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr DeviceAddress kFirst{1_GiB};

class ObservedMemoryTest : public ::testing::Test {
 protected:
  static memtrace_observed Event(memtrace_observed_kind kind, Bytes bytes, DeviceAddress address) {
    memtrace_observed event{};
    event.size = sizeof(event);
    event.kind = kind;
    event.bytes = bytes;
    event.address = address.value();
    return event;
  }

  void Note(memtrace_observed_kind kind, Bytes bytes, DeviceAddress address = {}) {
    memory_.Note(Event(kind, bytes, address));
  }

  void Segment(DeviceAddress address, Bytes bytes) {
    memtrace_observed event = Event(MEMTRACE_OBSERVED_MAP, bytes, address);
    event.is_segment = 1;
    memory_.Note(event);
  }

  // Returns the bytes that the block occupies if a rest of up to 1 MiB stays with it.
  Bytes Take(DeviceAddress address, Bytes bytes) {
    const Bytes before = memory_.ledger().live_allocated;
    memtrace_observed event = Event(MEMTRACE_OBSERVED_ALLOCATE, bytes, address);
    event.unsplit = 1_MiB;
    memory_.Note(event);
    return memory_.ledger().live_allocated - before;
  }

  void Free(DeviceAddress address, Bytes bytes) {
    Note(MEMTRACE_OBSERVED_FREE_REQUESTED, bytes, address);
    Note(MEMTRACE_OBSERVED_FREE_COMPLETED, bytes, address);
  }

  AllocationObserver nobody_;
  ObservedMemory memory_{DeviceIndex{0}, nobody_};
};

TEST_F(ObservedMemoryTest, LedgerAccountsForEveryMappedByteOnce) {
  Note(MEMTRACE_OBSERVED_MAP, 20_MiB);
  Note(MEMTRACE_OBSERVED_ALLOCATE, 3_MiB + 1);
  Note(MEMTRACE_OBSERVED_ALLOCATE, 5_MiB);
  Note(MEMTRACE_OBSERVED_FREE_REQUESTED, 5_MiB);
  AllocatorLedger ledger = memory_.ledger();
  EXPECT_EQ(ledger.live_requested, 3_MiB + 1);
  EXPECT_EQ(ledger.live_allocated, 3_MiB + 512);
  EXPECT_EQ(ledger.stream_wait, 5_MiB);
  EXPECT_EQ(ledger.cached, 20_MiB - 8_MiB - 512);
  Note(MEMTRACE_OBSERVED_FREE_COMPLETED, 5_MiB);
  EXPECT_EQ(memory_.ledger().stream_wait, 0u);
}

TEST_F(ObservedMemoryTest, ObserverReceivesThePool) {
  class : public AllocationObserver {
   public:
    void Allocated(const BlockEvent& block) override { pool = block.pool; }
    PoolId pool;
  } observer;
  ObservedMemory memory(DeviceIndex{0}, observer);
  memtrace_observed event = Event(MEMTRACE_OBSERVED_ALLOCATE, 512, kFirst);
  event.pool_first = 0;
  event.pool_second = 7;
  memory.Note(event);
  EXPECT_EQ(observer.pool, (PoolId{0, 7}));
}

// Uses a block of 13 MiB in a segment of 14, and one of 2 MiB in the rest of a segment of 20.
TEST_F(ObservedMemoryTest, BlockKeepsARemainderTooSmallToSplit) {
  constexpr DeviceAddress kSecond = kFirst + 14_MiB;  // adjacent, but another segment
  Segment(kFirst, 14_MiB);
  Segment(kSecond, 20_MiB);
  EXPECT_EQ(Take(kFirst, 13_MiB), 14_MiB);
  EXPECT_EQ(Take(kSecond, 8_MiB), 8_MiB);
  EXPECT_EQ(Take(kSecond + 10_MiB, 9_MiB), 10_MiB);
  EXPECT_EQ(Take(kSecond + 8_MiB, 2_MiB - 512), 2_MiB);
  const Bytes before = memory_.ledger().live_allocated;
  Free(kSecond + 8_MiB, 2_MiB - 512);
  EXPECT_EQ(before - memory_.ledger().live_allocated, 2_MiB);
  EXPECT_EQ(memory_.ledger().stream_wait, 0u);
}

TEST_F(ObservedMemoryTest, RemappedSegmentStartsFree) {
  Segment(kFirst, 14_MiB);
  EXPECT_EQ(Take(kFirst, 13_MiB), 14_MiB);
  Free(kFirst, 13_MiB);
  Note(MEMTRACE_OBSERVED_UNMAP, 14_MiB, kFirst);
  EXPECT_EQ(Take(kFirst, 13_MiB), 13_MiB) << "of a segment that grows";
  Free(kFirst, 13_MiB);
  Segment(kFirst, 16_MiB);
  EXPECT_EQ(Take(kFirst, 13_MiB), 13_MiB);
}

TEST_F(ObservedMemoryTest, StatedOccupiedSizeIsUsedForTheFree) {
  memtrace_observed event = Event(MEMTRACE_OBSERVED_ALLOCATE, 1200, kFirst);
  event.occupied = 2048;
  memory_.Note(event);
  EXPECT_EQ(memory_.ledger().live_allocated, 2048u);
  Free(kFirst, 1200);
  EXPECT_EQ(memory_.ledger().live_allocated, 0u);
  EXPECT_EQ(memory_.ledger().stream_wait, 0u);
}

TEST_F(ObservedMemoryTest, AllocatorWithoutACacheReservesWhatIsInUse) {
  ObservedMemory plain(DeviceIndex{0}, nobody_, ObservedMemory::Caches::kNothing);
  memtrace_observed event{};
  event.size = sizeof(event);
  event.kind = MEMTRACE_OBSERVED_ALLOCATE;
  event.bytes = 5_MiB;
  plain.Note(event);
  EXPECT_EQ(plain.ledger().reserved, 5_MiB);
  EXPECT_EQ(plain.ledger().cached, 0u);
}

TEST_F(ObservedMemoryTest, FreesOfUnknownBlocksDoNotUnderflow) {
  Note(MEMTRACE_OBSERVED_FREE_REQUESTED, 5_MiB);
  Note(MEMTRACE_OBSERVED_FREE_COMPLETED, 6_MiB);
  Note(MEMTRACE_OBSERVED_UNMAP, 20_MiB);
  const AllocatorLedger ledger = memory_.ledger();
  EXPECT_EQ(ledger.live_requested, 0u);
  EXPECT_EQ(ledger.stream_wait, 0u);
  EXPECT_EQ(ledger.reserved, 0u);
  EXPECT_EQ(ledger.cached, 0u);
}

TEST_F(ObservedMemoryTest, InconsistentFiguresDoNotUnderflow) {
  memtrace_observed_out_of_memory failure{};
  failure.reserved = 1_MiB;
  failure.active = 2_MiB;
  failure.allocated = 3_MiB;
  const AllocatorLedger ledger = memory_.LedgerOf(failure);
  EXPECT_EQ(ledger.stream_wait, 0u);
  EXPECT_EQ(ledger.cached, 0u);
}

}  // namespace
}  // namespace memtrace
