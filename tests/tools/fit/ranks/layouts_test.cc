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

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// A job whose need and traffic follow from its command, "train.py TP BATCH".
class Job {
 public:
  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view name) {
    ran_.emplace_back(name);
    Outcome outcome;
    const uint64_t tp = std::stoull(trial.command[1]);
    const uint64_t batch = std::stoull(trial.command[2]);
    if (tp == 3) {
      outcome.exit_code = 1;
      return outcome;
    }
    outcome.completed = true;
    ProcessNeed& process = outcome.processes.emplace_back();
    const uint64_t bytes = 64 * kGiB * batch / tp;
    process.cards.push_back(
        {.card = 8, .peak_reserved = bytes, .peak_at = {}, .parts = {}, .total = bytes});
    process.cost.sent_bytes = tp * batch;
    return outcome;
  }

  static absl::StatusOr<launch::JobRanks> FindRanks(const Trial& trial) {
    launch::JobRanks job = *trial.job;
    job.is_auto = false;
    job.real = {0, 8};
    job.alike = {8, 8};
    return job;
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
      {"1 1", LayoutVerdict::kFits},       {"1 2", LayoutVerdict::kDoesNotFit},
      {"2 1", LayoutVerdict::kFits},       {"2 2", LayoutVerdict::kFits},
      {"3 1", LayoutVerdict::kFailed},     {"3 2", LayoutVerdict::kFailed}};
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
  EXPECT_TRUE(answer->has_margin);
  EXPECT_EQ(answer->layouts[0].fullest.card, 8);
}

TEST(LayoutsTest, NothingIsRecommendedIfNothingFits) {
  Job job;
  const auto answer = job.Compare({{"tp", {"1"}}, {"batch", {"2"}}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->recommended.has_value());
}

TEST(LayoutsTest, OptionsThatNameSizesAreKnown) {
  for (const char* name : {"batch_size", "micro-batch", "seq_len", "context"}) {
    EXPECT_TRUE(IsSize(name)) << name;
  }
  for (const char* name : {"tp", "pp", "dp_shard"}) EXPECT_FALSE(IsSize(name)) << name;
}

}  // namespace
}  // namespace memtrace::fit
