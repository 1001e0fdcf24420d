// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/books.h"

#include <gtest/gtest.h>

#include "tools/bench/recorded_requests.h"
#include "tools/bench/workloads.h"

namespace memtrace::bench {
namespace {

TEST(BooksTest, EveryWorkloadIsServedByTheSmallestCardAndNotByOneGranuleLess) {
  for (const Workload& workload : Workloads()) {
    const RequestSequence sequence = workload.make();
    PolicyOnBooks policy(sequence);
    const auto smallest = policy.SmallestCard();
    ASSERT_TRUE(smallest.has_value()) << workload.name;
    EXPECT_GE(*smallest, LivePeak(sequence));
    EXPECT_TRUE(policy.PlayOn(*smallest, true, false).completed()) << workload.name;
    EXPECT_FALSE(policy.PlayOn(*smallest - 2_MiB, true, false).completed()) << workload.name;
  }
}

TEST(BooksTest, LowerBoundCompletesOnTheLivePeak) {
  const RequestSequence sequence = FindWorkload("mixed-256")->make();
  LowerBound bound(sequence);
  const Bytes peak = LivePeak(sequence);
  EXPECT_EQ(bound.PlayOn(peak, true, false).peak, peak);
  EXPECT_GT(bound.PlayOn(peak - 512, false, false).failures, 0);
}

TEST(BooksTest, RequestThatFailsIsLeftOutWithItsFree) {
  SequenceBuilder builder;
  builder.Free(builder.Allocate(64_MiB, 0));
  builder.Allocate(2_MiB, 0);
  const RequestSequence sequence = builder.Finish();
  const PlayOutcome outcome = PolicyOnBooks(sequence).PlayOn(16_MiB, false, false);
  EXPECT_EQ(outcome.failures, 1);
  EXPECT_EQ(outcome.first_failure, 0);
  EXPECT_GE(outcome.peak, 2_MiB);
}

}  // namespace
}  // namespace memtrace::bench
