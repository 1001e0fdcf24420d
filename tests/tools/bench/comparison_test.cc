// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/comparison.h"

#include <gtest/gtest.h>

#include "tools/report/bench/bench_report.h"

namespace memtrace::bench {
namespace {

// An allocator that serves its requests on every card that is large enough, and says how large.
class ServesFrom : public TriedAllocator {
 public:
  ServesFrom(Bytes needs, Bytes peak) : needs_(needs), peak_(peak) {}

  bool has_card() const override { return true; }
  PlayOutcome PlayOn(Bytes card, bool /*stops*/, bool /*checks*/) override {
    PlayOutcome outcome;
    outcome.failures = card < needs_ ? 1 : 0;
    outcome.peak = peak_;
    return outcome;
  }
  std::optional<TimedOutcome> Time(Bytes, int threads, double) override {
    return TimedOutcome{.nanoseconds = 10.0 * threads + static_cast<double>(times_++), .fault = {}};
  }

 private:
  const Bytes needs_;
  const Bytes peak_;
  int times_ = 0;
};

BenchRow Compared(Bytes needs, Bytes peak, const ComparisonSettings& settings = {}) {
  std::vector<NamedAllocator> tried;
  tried.push_back({"one", std::make_unique<ServesFrom>(needs, peak)});
  return Compare(tried, 100_MiB, settings).front();
}

TEST(ComparisonTest, SmallestCardIsFoundBelowAndAboveThePeak) {
  EXPECT_EQ(Compared(140_MiB, 300_MiB).smallest, 140_MiB);
  EXPECT_EQ(Compared(300_MiB, 140_MiB).smallest, 300_MiB);  // it serves less on a full card
  EXPECT_EQ(Compared(100_MiB, 100_MiB).smallest, 100_MiB);
}

TEST(ComparisonTest, AllocatorThatServesNoCardHasNoSmallest) {
  EXPECT_EQ(Compared(Bytes{1} << 50, 1_GiB).smallest, std::nullopt);
}

TEST(ComparisonTest, TimesAreTakenAsOftenAsRequestedForEachNumberOfThreads) {
  const BenchRow row = Compared(1_MiB, 1_MiB, {.threads = {1, 8}, .repeat = 3});
  EXPECT_EQ(row.times.at(1), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(row.times.at(8).size(), 3);
}

TEST(ComparisonTest, SpreadIsTheMedianAndTheQuarters) {
  const report::Spread spread = report::SpreadOf({5, 1, 4, 2, 3});
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.least_quarter, 2);
  EXPECT_EQ(spread.most_quarter, 4);
  EXPECT_EQ(report::SpreadOf({7}).most_quarter, 7);
}

}  // namespace
}  // namespace memtrace::bench
