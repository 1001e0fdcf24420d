// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/ledger.h"

#include <gtest/gtest.h>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

class LedgerTest : public HeapParts {
 protected:
  AllocatorLedger Ledger() {
    heap_.groups().MergeRecent();
    const AllocatorLedger ledger = LedgerOf(heap_.groups(), heap_.accounting());
    EXPECT_EQ(
        ledger.live_allocated + ledger.stream_wait + ledger.cached + ledger.holes + ledger.pinned,
        ledger.reserved);
    return ledger;
  }
};

TEST_F(LedgerTest, UnusedCardHasAnEmptyLedger) { EXPECT_EQ(Ledger().reserved, 0U); }

TEST_F(LedgerTest, MemoryInUseCountsRequestedAndAllocatedBytes) {
  Allocate(4_MiB - 100);
  const AllocatorLedger ledger = Ledger();
  EXPECT_EQ(ledger.live_requested, 4_MiB - 100);
  EXPECT_EQ(ledger.live_allocated, 4_MiB);
  EXPECT_EQ(ledger.holes, 0U);
}

// In chunks of 2 MiB 8 MiB are mapped, and 7 are in use; then one chunk becomes entirely free.
TEST_F(LedgerTest, WholeFreeChunksAreCachedAndTheRestAreHoles) {
  Allocate(1_MiB + 512_KiB);
  const DeviceAddress middle = Allocate(4_MiB);
  Allocate(1_MiB + 512_KiB);
  Free(middle);
  const AllocatorLedger ledger = Ledger();
  EXPECT_EQ(ledger.cached, 2_MiB);
  EXPECT_EQ(ledger.holes, 3_MiB);
  EXPECT_EQ(ledger.largest_hole, 4_MiB) << "whole chunks included";
}

TEST_F(LedgerTest, LargestHoleIsTheMaximumOverAllStreams) {
  Free(Allocate(8_MiB));
  Free(Allocate(4_MiB, kSide));
  EXPECT_EQ(Ledger().largest_hole, 8_MiB);
}

TEST_F(LedgerTest, FreedBlockThatAnotherStreamUsesCountsAsStreamWait) {
  const DeviceAddress address = Allocate(4_MiB);
  Share(address, kSide);
  Free(address);
  EXPECT_EQ(Ledger().stream_wait, 4_MiB);
  EXPECT_EQ(Ledger().cached, 0U);
  streams_.Finish(kSide);
  heap_.waiting().CompleteDone(kMain);
  EXPECT_EQ(Ledger().stream_wait, 0U);
  EXPECT_EQ(Ledger().cached, 4_MiB);
}

TEST_F(LedgerTest, FreeMemoryOfAPoolWithUsersIsPinned) {
  Free(AllocateIn(kPool, 4_MiB));
  EXPECT_EQ(Ledger().pinned, 4_MiB);
  EXPECT_EQ(Ledger().cached, 0U);
  EXPECT_EQ(Ledger().holes, 0U);
  EXPECT_EQ(Ledger().largest_hole, 4_MiB);
  ASSERT_TRUE(heap_.pools().Release(kPool).ok());
  EXPECT_EQ(Ledger().pinned, 0U);
  EXPECT_EQ(Ledger().cached, 4_MiB);
}

}  // namespace
}  // namespace memtrace
