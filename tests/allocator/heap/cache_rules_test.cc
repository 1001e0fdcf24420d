// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/cache_rules.h"

#include <gtest/gtest.h>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

class CacheRulesTest : public testing::Test {
 protected:
  explicit CacheRulesTest(const CacheBounds& bounds = {}) : card_(1_GiB, {.cache = bounds}) {}

  // A step whose peak is `bytes`, all of it freed.
  void Step(Bytes bytes) {
    EXPECT_TRUE(card_.Free(card_.Allocate(bytes)).ok());
    card_.streams.Finish(kMain);
    EndStep();
  }
  void EndStep() {
    card_.allocator.movement().EndStep();
    card_.allocator.CheckInvariants();
  }
  Bytes Reserved() { return card_.allocator.accounts().ledger().reserved; }
  Bytes Cached() { return card_.allocator.accounts().ledger().cached; }

  Card card_;
};

TEST_F(CacheRulesTest, EverythingStaysCachedByDefault) {
  Step(512_MiB);
  for (int i = 0; i < 10; ++i) Step(2_MiB);
  EXPECT_EQ(Cached(), 512_MiB);
}

class CacheLimitTest : public CacheRulesTest {
 protected:
  CacheLimitTest() : CacheRulesTest({.limit = 128_MiB}) {}
};

TEST_F(CacheLimitTest, MoreGoesAtTheEndOfAStep) {
  EXPECT_TRUE(card_.Free(card_.Allocate(512_MiB)).ok());
  card_.streams.Finish(kMain);
  EXPECT_EQ(Cached(), 512_MiB);  // a free never trims
  EndStep();
  EXPECT_EQ(Cached(), 128_MiB);
  EXPECT_EQ(card_.vmm.faults().size(), 0u);
}

TEST_F(CacheLimitTest, MoreGoesAfterAGrowth) {
  EXPECT_TRUE(card_.Free(card_.Allocate(512_MiB)).ok());
  card_.streams.Finish(kMain);
  card_.Allocate(20_MiB, kSide);
  EXPECT_LE(Cached(), 160_MiB);  // and what the growth itself has mapped
  EXPECT_EQ(card_.vmm.faults().size(), 0u);
}

TEST_F(CacheLimitTest, MemoryWithUnfinishedWorkStaysUntilTheNextStep) {
  EXPECT_TRUE(card_.Free(card_.Allocate(512_MiB)).ok());
  EndStep();
  EXPECT_EQ(Cached(), 512_MiB);
  EXPECT_EQ(card_.streams.live_events(), 0u);
  card_.streams.Finish(kMain);
  EndStep();
  EXPECT_EQ(Cached(), 128_MiB);
}

class CacheAgeTest : public CacheRulesTest {
 protected:
  CacheAgeTest() : CacheRulesTest({.age = 3}) {}
};

TEST_F(CacheAgeTest, MemoryThatNoneOfTheLastStepsNeededGoes) {
  Step(512_MiB);
  Step(128_MiB);
  Step(128_MiB);
  EXPECT_EQ(Reserved(), 512_MiB);
  Step(128_MiB);
  EXPECT_EQ(Reserved(), 128_MiB);
}

TEST_F(CacheAgeTest, MemoryOfRegularStepsStays) {
  for (int i = 0; i < 20; ++i) Step(i % 3 == 0 ? 512_MiB : 64_MiB);
  EXPECT_EQ(Reserved(), 512_MiB);
  EXPECT_EQ(card_.allocator.accounts().statistics().num_device_free, 0);
}

TEST_F(CacheAgeTest, PeaksOfTheProgramDoNotChange) {
  Step(512_MiB);
  Step(128_MiB);
  EXPECT_EQ(card_.allocator.accounts().statistics().allocated_bytes.all.peak,
            static_cast<int64_t>(512_MiB));
  card_.allocator.accounts().ResetPeak();
  Step(64_MiB);
  EXPECT_EQ(card_.allocator.accounts().statistics().allocated_bytes.all.peak,
            static_cast<int64_t>(64_MiB));
}

// Blocks in use keep parts of the free memory from being used together, so a step maps more than
// its peak. That memory must not go and come back at every step.
TEST_F(CacheAgeTest, FragmentedMemoryIsGivenBackAtMostOnceInThatManySteps) {
  const auto blocks = card_.AllocateMany(16, 32_MiB);
  for (size_t i = 0; i < blocks.size(); i += 2) EXPECT_TRUE(card_.Free(blocks[i]).ok());
  for (int i = 0; i < 30; ++i) Step(200_MiB);
  EXPECT_LE(card_.allocator.accounts().statistics().num_device_free, 10 * 8);
  EXPECT_EQ(card_.vmm.faults().size(), 0u);
}

}  // namespace
}  // namespace memtrace
