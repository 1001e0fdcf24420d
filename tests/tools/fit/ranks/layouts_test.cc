// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace memtrace::fit {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// The values of TP for which the job below does something else than train.
constexpr uint64_t kRejected = 3;
constexpr uint64_t kTrainsNothing = 6;
constexpr uint64_t kSlow = 7;     // rank 0 reaches the time limit before its ranks are known
constexpr uint64_t kNoGrid = 12;  // its ranks that run do not stand for all
constexpr uint64_t kLeaks = 16;   // 1 GiB in each step

// A job whose need and traffic follow from its command, "train.py TP BATCH".
class Job {
 public:
  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view name) {
    ran_.emplace_back(name);
    Outcome outcome;
    const uint64_t tp = std::stoull(trial.command[1]);
    const uint64_t batch = std::stoull(trial.command[2]);
    if (tp == kRejected) {
      outcome.exit_code = 1;
      return outcome;
    }
    outcome.completed = true;
    if (tp == kTrainsNothing) return outcome;
    ProcessNeed& process = outcome.processes.emplace_back();
    const uint64_t bytes = 64 * kGiB * batch / tp;
    process.cards.push_back(
        {.card = 8, .peak_reserved = bytes, .peak_at = {}, .parts = {}, .total = bytes});
    process.cost.sent_bytes = tp * batch;
    if (tp == kLeaks) Leak(process);
    return outcome;
  }

  static absl::StatusOr<launch::JobRanks> FindRanks(const Trial& trial) {
    const uint64_t tp = std::stoull(trial.command[1]);
    if (tp == kSlow) return absl::DeadlineExceededError("rank 0 was late");
    launch::JobRanks job = *trial.job;
    job.is_auto = false;
    job.real = {0, 8};
    job.alike = {8, tp == kNoGrid ? 7 : 8};
    return job;
  }

  static void Leak(ProcessNeed& process) {
    process.end = TrialEnd::kSteps;
    process.steps = 12;
    CardNeed& card = process.cards.front();
    card.total = card.peak_allocated = card.peak_reserved = 12 * kGiB;
    for (uint64_t step = 1; step <= process.steps; ++step)
      card.rises.push_back({step, step * kGiB});
  }

  absl::StatusOr<LayoutAnswer> Compare(const std::vector<Variation>& options) {
    Question question;
    question.trial.command = {"train.py", "{tp}", "{batch}"};
    question.trial.cards = {"8xh100-80gb"};
    question.trial.job = launch::JobRanks{.world = 16, .cards = 8, .real = {0}, .is_auto = true};
    question.variations = options;
    LayoutSearch search(
        question, [this](const Trial& trial, std::string_view name) { return Run(trial, name); },
        FindRanks, [] { return std::string("train.py:3 rejects tp=3"); });
    MEMTRACE_RETURN_IF_ERROR(search.Run());
    return search.answer();
  }

  const std::vector<std::string>& ran() const { return ran_; }

 private:
  std::vector<std::string> ran_;
};

std::map<std::string, LayoutVerdict> Verdicts(const LayoutAnswer& answer) {
  std::map<std::string, LayoutVerdict> verdicts;
  for (const Layout& layout : answer.layouts)
    verdicts[absl::StrJoin(layout.values, " ")] = layout.verdict;
  return verdicts;
}

TEST(LayoutsTest, AllCombinationsAreTried) {
  Job job;
  const auto answer = job.Compare({{"tp", {"1", "2", "3"}}, {"batch", {"1", "2"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const std::map<std::string, LayoutVerdict> expected = {
      {"1 1", LayoutVerdict::kFits},   {"1 2", LayoutVerdict::kDoesNotFit},
      {"2 1", LayoutVerdict::kFits},   {"2 2", LayoutVerdict::kFits},
      {"3 1", LayoutVerdict::kFailed}, {"3 2", LayoutVerdict::kFailed}};
  EXPECT_EQ(Verdicts(*answer), expected);
  EXPECT_EQ(answer->layouts[4].reason, "train.py:3 rejects tp=3");
}

TEST(LayoutsTest, LargerBatchOfLayoutThatDoesNotFitIsNotRun) {
  Job job;
  const auto answer = job.Compare({{"tp", {"1"}}, {"batch", {"2", "4", "1"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(Verdicts(*answer).at("1 4"), LayoutVerdict::kLargerThan);
  EXPECT_THAT(job.ran(), ElementsAre("tp=1, batch=2", "tp=1, batch=1"));
}

TEST(LayoutsTest, LayoutThatSendsLeastIsRecommended) {
  Job job;
  const auto answer = job.Compare({{"tp", {"4", "2", "8"}}, {"batch", {"1"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->recommended.has_value());
  EXPECT_THAT(answer->layouts[*answer->recommended].values, ElementsAre("2", "1"));
  EXPECT_TRUE(answer->layouts[*answer->recommended].has_margin);
  EXPECT_EQ(answer->layouts[0].fullest.card, 8);
}

TEST(LayoutsTest, LayoutThatLeavesTheMarginIsRecommendedBeforeOneThatSendsLess) {
  Job job;
  const auto answer = job.Compare({{"tp", {"5", "8"}}, {"batch", {"6"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->layouts, Each(Field(&Layout::verdict, LayoutVerdict::kFits)));
  EXPECT_FALSE(answer->layouts[0].has_margin);
  EXPECT_EQ(answer->recommended, 1u);
}

TEST(LayoutsTest, ProgramThatAllocatesNothingDoesNotFit) {
  Job job;
  const auto answer = job.Compare({{"tp", {"6"}}, {"batch", {"1"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->layouts[0].verdict, LayoutVerdict::kFailed);
}

TEST(LayoutsTest, PeakThatWillFillTheCardDoesNotFit) {
  Job job;
  const auto answer = job.Compare({{"tp", {"16"}}, {"batch", {"1"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->layouts[0].verdict, LayoutVerdict::kDoesNotFit);
}

TEST(LayoutsTest, LayoutOfWhichNotEachKindOfRankRanIsNotKnown) {
  Job job;
  const auto answer = job.Compare({{"tp", {"7", "12"}}, {"batch", {"1"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->layouts, Each(Field(&Layout::verdict, LayoutVerdict::kNotKnown)));
  EXPECT_EQ(answer->layouts[0].reason, "rank 0 was late");
  EXPECT_FALSE(answer->recommended.has_value());
}

TEST(LayoutsTest, NothingIsRecommendedIfNothingFits) {
  Job job;
  const auto answer = job.Compare({{"tp", {"1"}}, {"batch", {"2"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->recommended.has_value());
}

TEST(LayoutsTest, PipelineIdlesForItsFirstAndLastMicroBatches) {
  Layout layout;
  EXPECT_EQ(layout.IdleShare(), 0);
  layout.job = launch::JobRanks();
  layout.job->stages = 8;
  layout.passes = 14;
  EXPECT_DOUBLE_EQ(layout.IdleShare(), 7.0 / 21);
  layout.job->stages = 1;
  EXPECT_EQ(layout.IdleShare(), 0);
}

TEST(LayoutsTest, OptionsThatNameSizesAreKnown) {
  for (const char* name : {"batch_size", "per_device_train_batch_size", "micro-batch", "seq_len",
                           "context_length", "bs", "MBS"}) {
    EXPECT_TRUE(IsSize(name)) << name;
  }
  for (const char* name : {"tp", "pp", "dp_shard", "context_parallel", "sequence_parallel_degree",
                           "num_microbatches", "num_batches", "batch_split", "context"}) {
    EXPECT_FALSE(IsSize(name)) << name;
  }
}

}  // namespace
}  // namespace memtrace::fit
