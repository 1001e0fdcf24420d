// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory_pools.h"

#include <gtest/gtest.h>

#include "interpose/simulated_card/machine.h"
#include "tests/interpose/simulated_card/card_sizes.h"

namespace memtrace::card {
namespace {

class MemoryPoolsTest : public ::testing::Test {
 protected:
  std::uint64_t FreeOnCard() { return machine_.CardAt(0).CurrentLedger().free; }
  PoolFigures Figures() {
    PoolFigures figures;
    EXPECT_EQ(pools_.Figures(pool_, &figures), Result::kSuccess);
    return figures;
  }
  Address Take(std::uint64_t bytes) {
    Address begin = 0;
    EXPECT_EQ(pools_.Allocate(pool_, bytes, &begin), Result::kSuccess);
    return begin;
  }

  Machine machine_{{CardSpec{.bytes = 64_MiB, .context_bytes = 0}}, 1_MiB};
  MemoryPools& pools_ = machine_.pools;
  MemoryPool* pool_ = pools_.Default(0);
};

TEST_F(MemoryPoolsTest, FreedMemoryStaysChargedUntilTheHostSynchronizes) {
  const Address begin = Take(10_MiB);
  EXPECT_EQ(FreeOnCard(), 54_MiB);
  ASSERT_EQ(pools_.Free(begin), Result::kSuccess);
  EXPECT_EQ(FreeOnCard(), 54_MiB);
  EXPECT_EQ(Figures().used, 0u);
  pools_.TrimToThresholds();
  EXPECT_EQ(FreeOnCard(), 64_MiB);
}

TEST_F(MemoryPoolsTest, TheThresholdStaysReservedAndServesLaterRequests) {
  ASSERT_EQ(pools_.Configure(pool_, [](MemoryPool& pool) { pool.release_threshold = 6_MiB; }),
            Result::kSuccess);
  ASSERT_EQ(pools_.Free(Take(10_MiB)), Result::kSuccess);
  pools_.TrimToThresholds();
  EXPECT_EQ(FreeOnCard(), 58_MiB);
  Take(4_MiB);
  EXPECT_EQ(FreeOnCard(), 58_MiB);
  Take(4_MiB);
  EXPECT_EQ(FreeOnCard(), 56_MiB);
}

TEST_F(MemoryPoolsTest, ARefusedRequestChangesNothing) {
  Take(40_MiB);
  const PoolFigures before = Figures();
  Address begin = 0;
  EXPECT_EQ(pools_.Allocate(pool_, 40_MiB, &begin), Result::kOutOfMemory);
  EXPECT_EQ(Figures().reserved, before.reserved);
  EXPECT_EQ(Figures().used, before.used);
  EXPECT_EQ(FreeOnCard(), 24_MiB);
}

TEST_F(MemoryPoolsTest, FiguresKeepTheHighestUntilTheyAreReset) {
  ASSERT_EQ(pools_.Free(Take(10_MiB)), Result::kSuccess);
  Take(3_MiB);
  EXPECT_EQ(Figures().used, 3_MiB);
  EXPECT_EQ(Figures().used_high, 10_MiB);
  ASSERT_EQ(pools_.ResetHighMarks(pool_, true, true), Result::kSuccess);
  EXPECT_EQ(Figures().used_high, 3_MiB);
}

TEST_F(MemoryPoolsTest, OnlyAnEmptyPoolOfTheProgramCanBeDestroyed) {
  EXPECT_EQ(pools_.Destroy(pool_), Result::kInvalidValue);
  pool_ = pools_.Create(0);
  ASSERT_EQ(pools_.SetCurrent(0, pool_), Result::kSuccess);
  const Address begin = Take(2_MiB);
  EXPECT_EQ(pools_.Destroy(pool_), Result::kInvalidValue);
  ASSERT_EQ(pools_.Free(begin), Result::kSuccess);
  EXPECT_EQ(pools_.Destroy(pool_), Result::kSuccess);
  EXPECT_EQ(pools_.Current(0), pools_.Default(0));
  EXPECT_EQ(FreeOnCard(), 64_MiB);
}

}  // namespace
}  // namespace memtrace::card
