// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/verdict.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

// A card of 100 bytes, 60 of them live, and a request for 30 of which none is available.
class VerdictTest : public testing::Test {
 protected:
  VerdictTest() {
    account_.total = 100;
    account_.live_requested = account_.live_allocated = account_.reserved = 60;
    failed_.event.requested = failed_.event.allocated = 30;
  }
  Cause FoundCause() { return Judged().cause; }
  Verdict Judged(uint64_t private_pool_bytes = 0) {
    evidence_.private_pool_bytes = private_pool_bytes;
    return JudgeFailure(failed_, LedgerFromAccount(account_), evidence_);
  }

  trace::CardLedger account_;
  FailedRequest failed_;
  FailureEvidence evidence_;
};

TEST_F(VerdictTest, FullCardIsCapacity) { EXPECT_EQ(FoundCause(), Cause::kCapacity); }

TEST_F(VerdictTest, EnoughFreeMemoryForTheStepIsFragmentation) {
  account_.holes = 20;
  account_.free = 20;
  evidence_.rest.rise = 41;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  evidence_.rest.rise = 40;
  EXPECT_EQ(FoundCause(), Cause::kFragmentation);
}

TEST_F(VerdictTest, LowerBoundOfTheRestDoesNotProveFragmentation) {
  failed_.event.requested = failed_.event.allocated = 5;
  account_.holes = 20;
  evidence_.rest = {.rise = 20, .optimizer = {}, .at_least = true};
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  evidence_.rest.at_least = false;
  EXPECT_EQ(FoundCause(), Cause::kFragmentation);
}

TEST_F(VerdictTest, FullCardWithASmallRequestIsCapacity) {
  failed_.event.requested = failed_.event.allocated = 5;
  account_.holes = 24;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  account_.holes = 25;
  EXPECT_EQ(FoundCause(), Cause::kFragmentation);
}

TEST_F(VerdictTest, CardWithoutBlocksInUseIsNotFragmented) {
  account_.live_requested = account_.live_allocated = 0;
  account_.holes = 90;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
}

TEST_F(VerdictTest, UnreleasedCacheIsTheCause) {
  account_.cached = 40;
  evidence_.releasable = 29;
  EXPECT_NE(FoundCause(), Cause::kCached);
  evidence_.releasable = 30;
  EXPECT_EQ(FoundCause(), Cause::kCached);
  EXPECT_EQ(Judged().releasable, 30U);
}

TEST_F(VerdictTest, ReleasableIsAtMostTheCachedBytes) {
  account_.cached = 20;
  evidence_.releasable = 35;
  EXPECT_NE(FoundCause(), Cause::kCached);
  EXPECT_EQ(Judged().releasable, 20U);
}

TEST_F(VerdictTest, RequestLargerThanTheCardIsTooLarge) {
  failed_.event.requested = failed_.event.allocated = 91;
  account_.context = 10;
  account_.other_processes = 100;
  EXPECT_EQ(FoundCause(), Cause::kTooLarge);
  EXPECT_TRUE(Judged().is_larger_than_card);
}

TEST_F(VerdictTest, RequestLargerThanAMostlyFreeCardIsTooLarge) {
  failed_.event.requested = failed_.event.allocated = 80;
  account_.live_requested = account_.live_allocated = 40;
  account_.free = 50;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  account_.free = 51;
  EXPECT_EQ(FoundCause(), Cause::kTooLarge);
  EXPECT_FALSE(Judged().is_larger_than_card);
}

TEST_F(VerdictTest, StreamWaitTakesPrecedenceOverFragmentation) {
  account_.stream_wait = 30;
  account_.holes = 40;
  EXPECT_EQ(FoundCause(), Cause::kStreamWait);
}

TEST_F(VerdictTest, OtherProcessesTakePrecedenceIfTheyHoldTheShortfall) {
  account_.other_processes = 30;
  account_.holes = 40;
  evidence_.rest.rise = 71;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  evidence_.rest.rise = 70;
  EXPECT_EQ(FoundCause(), Cause::kOtherProcess);
}

TEST_F(VerdictTest, LimitIsTheCauseOnlyIfTheCardHadRoom) {
  failed_.event.limit = 70;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  account_.free = 40;
  EXPECT_EQ(FoundCause(), Cause::kLimit);
}

TEST_F(VerdictTest, OtherProcessesAreTheCauseOnlyIfTheyHoldTheShortfall) {
  account_.other_processes = 29;
  EXPECT_EQ(FoundCause(), Cause::kCapacity);
  failed_.event.obtainable = 1;
  EXPECT_EQ(FoundCause(), Cause::kOtherProcess);
}

TEST_F(VerdictTest, ShortByIsNotNegative) {
  failed_.event.obtainable = 50;
  EXPECT_EQ(Judged().short_by, 0U);
}

TEST_F(VerdictTest, MemoryTooSmallToHaveHelpedDoesNotContribute) {
  account_.outside_allocator = 29;
  EXPECT_TRUE(Judged(29).contributing.empty());
  account_.outside_allocator = 30;
  const Verdict verdict = Judged(30);
  ASSERT_EQ(verdict.contributing.size(), 2U);
  EXPECT_EQ(verdict.contributing[0].kind, ContributionKind::kPrivatePool);
  EXPECT_EQ(verdict.contributing[1].kind, ContributionKind::kOutsideAllocator);
}

TEST_F(VerdictTest, ThreeConsecutiveRisesAreGrowth) {
  failed_.live_at_steps = {50, 20, 40, 60};
  EXPECT_TRUE(Judged().contributing.empty());
  failed_.live_at_steps = {50, 20, 40, 60, 80};
  ASSERT_EQ(Judged().contributing.size(), 1U);
  EXPECT_EQ(Judged().contributing[0].bytes, 60U);
}

TEST_F(VerdictTest, LedgerSumsWithNegativeUnexplainedBytes) {
  account_.free = 70;
  const Ledger ledger = LedgerFromAccount(account_);
  EXPECT_EQ(ledger.bytes(LedgerPart::kUnexplained), -30);
  int64_t sum = 0;
  for (const LedgerEntry& entry : ledger.entries) sum += entry.bytes;
  EXPECT_EQ(sum, 100);
}

}  // namespace
}  // namespace memtrace::analysis
