// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/memory_pools.h"

#include <gtest/gtest.h>

#include <utility>

#include "interpose/simulated_card/machine.h"
#include "tests/interpose/simulated_card/memory/card_sizes.h"

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
    Address begin;
    EXPECT_EQ(pools_.Allocate(pool_, bytes, &begin), Result::kSuccess);
    return begin;
  }

  Machine machine_{{CardSpec{.bytes = 256_MiB, .context_bytes = 0}}, 1_MiB};
  MemoryPools& pools_ = machine_.pools;
  MemoryPool* pool_ = pools_.Default(0);
};

TEST_F(MemoryPoolsTest, FreedMemoryStaysChargedUntilTheHostSynchronizes) {
  const Address begin = Take(10_MiB);
  EXPECT_EQ(FreeOnCard(), 224_MiB) << "a step of 32 MiB";
  ASSERT_EQ(pools_.Free(begin), Result::kSuccess);
  EXPECT_EQ(FreeOnCard(), 224_MiB);
  EXPECT_EQ(Figures().used, 0u);
  pools_.TrimToThresholds();
  EXPECT_EQ(FreeOnCard(), 256_MiB);
}

// The figures are an H200's (driver_facts.json, stream_ordered).
TEST_F(MemoryPoolsTest, MemoryIsTakenInStepsOf32MiB) {
  for (const auto& [bytes, taken] : {std::pair{1_MiB, 32_MiB}, std::pair{20_MiB, 32_MiB},
                                     std::pair{33_MiB, 64_MiB}, std::pair{100_MiB, 128_MiB}}) {
    const Address begin = Take(bytes);
    EXPECT_EQ(FreeOnCard(), 256_MiB - taken);
    ASSERT_EQ(pools_.Free(begin), Result::kSuccess);
    pools_.TrimToThresholds();
  }
}

TEST_F(MemoryPoolsTest, ThresholdStaysReservedAndServesLaterRequests) {
  ASSERT_EQ(pools_.Configure(pool_, [](MemoryPool& pool) { pool.release_threshold = 60_MiB; }),
            Result::kSuccess);
  ASSERT_EQ(pools_.Free(Take(70_MiB)), Result::kSuccess);
  pools_.TrimToThresholds();
  EXPECT_EQ(FreeOnCard(), 196_MiB);
  Take(40_MiB);
  EXPECT_EQ(FreeOnCard(), 192_MiB);
  Take(40_MiB);
  EXPECT_EQ(FreeOnCard(), 160_MiB);
}

TEST_F(MemoryPoolsTest, FailedRequestChangesNothing) {
  Take(160_MiB);
  const PoolFigures before = Figures();
  Address begin;
  EXPECT_EQ(pools_.Allocate(pool_, 100_MiB, &begin), Result::kOutOfMemory);
  EXPECT_EQ(Figures().reserved, before.reserved);
  EXPECT_EQ(Figures().used, before.used);
  EXPECT_EQ(FreeOnCard(), 96_MiB);
}

TEST_F(MemoryPoolsTest, HighMarksAreKeptUntilReset) {
  ASSERT_EQ(pools_.Free(Take(10_MiB)), Result::kSuccess);
  Take(3_MiB);
  EXPECT_EQ(Figures().used, 3_MiB);
  EXPECT_EQ(Figures().used_high, 10_MiB);
  ASSERT_EQ(pools_.ResetHighMarks(pool_, true, true), Result::kSuccess);
  EXPECT_EQ(Figures().used_high, 3_MiB);
}

TEST_F(MemoryPoolsTest, OnlyAnEmptyPoolMadeByTheProgramCanBeDestroyed) {
  EXPECT_EQ(pools_.Destroy(pool_), Result::kInvalidValue);
  pool_ = pools_.Create(0);
  ASSERT_EQ(pools_.SetCurrent(0, pool_), Result::kSuccess);
  const Address begin = Take(2_MiB);
  EXPECT_EQ(pools_.Destroy(pool_), Result::kInvalidValue);
  ASSERT_EQ(pools_.Free(begin), Result::kSuccess);
  EXPECT_EQ(pools_.Destroy(pool_), Result::kSuccess);
  EXPECT_EQ(pools_.Current(0), pools_.Default(0));
  EXPECT_EQ(FreeOnCard(), 256_MiB);
}

}  // namespace
}  // namespace memtrace::card
