// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/observed_memory.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

class ObservedMemoryTest : public ::testing::Test {
 protected:
  void Note(memtrace_observed_kind kind, Bytes bytes) {
    memtrace_observed event{};
    event.size = sizeof(event);
    event.kind = kind;
    event.bytes = bytes;
    memory_.Note(event);
  }

  AllocationObserver nobody_;
  ObservedMemory memory_{DeviceIndex{0}, nobody_};
};

TEST_F(ObservedMemoryTest, EveryMappedByteIsInOneEntry) {
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

TEST_F(ObservedMemoryTest, WhatCachesNothingHasReservedWhatIsInUse) {
  ObservedMemory plain(DeviceIndex{0}, nobody_, ObservedMemory::Caches::kNothing);
  memtrace_observed event{};
  event.size = sizeof(event);
  event.kind = MEMTRACE_OBSERVED_ALLOCATE;
  event.bytes = 5_MiB;
  plain.Note(event);
  EXPECT_EQ(plain.ledger().reserved, 5_MiB);
  EXPECT_EQ(plain.ledger().cached, 0u);
}

TEST_F(ObservedMemoryTest, WhatWasThereBeforeIsFreedWithoutWrappingRound) {
  Note(MEMTRACE_OBSERVED_FREE_REQUESTED, 5_MiB);
  Note(MEMTRACE_OBSERVED_FREE_COMPLETED, 6_MiB);
  Note(MEMTRACE_OBSERVED_UNMAP, 20_MiB);
  const AllocatorLedger ledger = memory_.ledger();
  EXPECT_EQ(ledger.live_requested, 0u);
  EXPECT_EQ(ledger.stream_wait, 0u);
  EXPECT_EQ(ledger.reserved, 0u);
  EXPECT_EQ(ledger.cached, 0u);
}

TEST_F(ObservedMemoryTest, FiguresThatDoNotAgreeDoNotWrapRound) {
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
