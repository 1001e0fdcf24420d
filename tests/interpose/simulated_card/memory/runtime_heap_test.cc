// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/runtime_heap.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

class RuntimeHeapTest : public ::testing::Test {
 protected:
  Address Allocated(std::uint64_t bytes, int device = 0) {
    Address begin;
    EXPECT_EQ(heap_.Allocate(device, bytes, &begin), Result::kSuccess);
    return begin;
  }
  std::uint64_t Charged(int device = 0) { return machine_.CardAt(device).CurrentLedger().runtime; }

  Machine machine_ = Machine({{.bytes = 100_MiB}, {.bytes = 100_MiB}}, 64_MiB);
  RuntimeHeap& heap_ = machine_.heap;
};

TEST_F(RuntimeHeapTest, LargeRequestsTakeWholeGranules) {
  EXPECT_EQ(Allocated(20_MiB).value() % kGranularity, 0u);
  EXPECT_EQ(Allocated(20_MiB + 1).value() % kGranularity, 0u);
  EXPECT_EQ(Charged(), 42_MiB);
}

TEST_F(RuntimeHeapTest, SmallRequestsShareAGranuleUntilTheLastIsFreed) {
  const Address first = Allocated(1);
  const Address second = Allocated(513);
  const Address third = Allocated(1_MiB);
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(third, first + 1536);
  EXPECT_EQ(Charged(), 2_MiB);
  ASSERT_EQ(heap_.Free(first), Result::kSuccess);
  ASSERT_EQ(heap_.Free(third), Result::kSuccess);
  EXPECT_EQ(Charged(), 2_MiB);
  EXPECT_EQ(Allocated(512), first) << "best fit";
  ASSERT_EQ(heap_.Free(first), Result::kSuccess);
  ASSERT_EQ(heap_.Free(second), Result::kSuccess);
  EXPECT_EQ(Charged(), 0u);
}

TEST_F(RuntimeHeapTest, CardsDoNotShareGranules) {
  Allocated(512, 0);
  Allocated(512, 1);
  EXPECT_EQ(Charged(0), 2_MiB);
  EXPECT_EQ(Charged(1), 2_MiB);
}

TEST_F(RuntimeHeapTest, RequestThatDoesNotFitChangesNothing) {
  Allocated(90_MiB);
  const Ledger before = machine_.CardAt(0).CurrentLedger();
  Address begin{42};
  EXPECT_EQ(heap_.Allocate(0, 11_MiB, &begin), Result::kOutOfMemory);
  EXPECT_EQ(heap_.Allocate(0, std::numeric_limits<std::uint64_t>::max(), &begin),
            Result::kOutOfMemory);
  EXPECT_EQ(begin, Address{42});
  EXPECT_EQ(machine_.CardAt(0).CurrentLedger(), before);
  EXPECT_FALSE(Allocated(10_MiB).is_null());
}

TEST_F(RuntimeHeapTest, OnlyTheStartOfALiveBlockCanBeFreed) {
  const Address begin = Allocated(4_MiB);
  EXPECT_EQ(heap_.Free(begin + 2_MiB), Result::kInvalidValue);
  EXPECT_EQ(heap_.Free(Address{0x1234}), Result::kInvalidValue);
  EXPECT_EQ(heap_.Free(begin), Result::kSuccess);
  EXPECT_EQ(heap_.Free(begin), Result::kInvalidValue);
}

TEST_F(RuntimeHeapTest, FindsTheBlockOfAnAddress) {
  const Address begin = Allocated(1000);
  ASSERT_TRUE(heap_.Find(begin + 999).has_value());
  EXPECT_EQ(heap_.Find(begin + 999)->begin, begin);
  EXPECT_EQ(heap_.Find(begin + 999)->bytes, 1000u);
  EXPECT_FALSE(heap_.Find(begin + 1000).has_value());
}

}  // namespace
}  // namespace memtrace::card
