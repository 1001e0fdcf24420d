// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/largest_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A program whose need is a function of its last word.
class Program {
 public:
  explicit Program(std::function<uint64_t(uint64_t)> mib) : mib_(std::move(mib)) {}

  // From this value on it fails by itself.
  Program& FailsFrom(uint64_t value) {
    fails_from_ = value;
    return *this;
  }
  // From this value on it runs out of memory late, in step 5.
  Program& RunsOutLateFrom(uint64_t value) {
    late_from_ = value;
    return *this;
  }

  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view name) {
    ran_.emplace_back(name);
    uint64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(trial.command.back(), &value));
    const uint64_t card = CardBytesOf(trial).front();
    const bool is_late = value >= late_from_ && card < kNoLimit && trial.most_steps >= 5;
    Outcome outcome;
    ProcessNeed& process = outcome.processes.emplace_back();
    process.cards.push_back({.card = 0, .peak_at = {}, .parts = {}});
    process.cards.front().total = mib_(value) * kMiB;
    outcome.completed = value < fails_from_ && mib_(value) * kMiB <= card && !is_late;
    outcome.outlook.steps = 8;
    outcome.outlook.last_rise = 2;
    outcome.outlook.is_whole = false;
    if (outcome.completed) return outcome;
    outcome.exit_code = 1;
    if (value < fails_from_)
      process.failed = FailedLine{.line = "train.py:3", .bytes = 100, .short_by = 10, .at = {}};
    return outcome;
  }

  absl::StatusOr<LargestValue> Find(uint64_t step = 1) {
    Question question;
    question.trial.command = {"python", "train.py", "{batch}"};
    question.trial.cards = {"1000MiB"};
    question.trial.watch_seconds = 20;
    question.trial.most_steps = 3;
    question.largest = {.name = "batch", .step = step};
    return FindLargestValue(
        question, [this](const Trial& trial, std::string_view name) { return Run(trial, name); });
  }

  const std::vector<std::string>& ran() const { return ran_; }

 private:
  std::function<uint64_t(uint64_t)> mib_;
  uint64_t fails_from_ = ~uint64_t{0};
  uint64_t late_from_ = ~uint64_t{0};
  std::vector<std::string> ran_;
};

TEST(LargestValueTest, LargestFitsAndTheNextDoesNot) {
  Program program([](uint64_t batch) { return 100 + 24 * batch; });
  const LargestValue found = *program.Find();
  EXPECT_EQ(found.scaling.largest, 37u);
  EXPECT_EQ(found.scaling.fails, 38u);
  EXPECT_TRUE(found.outcome.fits());
  EXPECT_FALSE(found.beyond.fits());
  EXPECT_LE(program.ran().size(), 8u);  // 1, 4, 16, 64 without a limit; 37, 38, and 37 as long
}

TEST(LargestValueTest, CurvedNeedIsBisected) {
  Program program([](uint64_t length) { return 100 + length * length / 50; });
  const LargestValue found = *program.Find();
  EXPECT_EQ(found.scaling.largest, 212u);
  EXPECT_EQ(found.scaling.fails, 213u);
}

TEST(LargestValueTest, OnlyMultiplesOfTheStepAreTried) {
  Program program([](uint64_t length) { return 100 + length; });
  const LargestValue found = *program.Find(64);
  EXPECT_EQ(found.scaling.largest, 896u);
  EXPECT_EQ(found.scaling.fails, 960u);
}

TEST(LargestValueTest, NoValueFitsIfTheLeastDoesNot) {
  Program program([](uint64_t batch) { return 2000 + batch; });
  const LargestValue found = *program.Find();
  EXPECT_EQ(found.scaling.largest, std::nullopt);
  EXPECT_EQ(found.scaling.fails, 1u);
  EXPECT_FALSE(found.outcome.fits());
}

TEST(LargestValueTest, NeedThatDoesNotGrowHasNoNextValue) {
  Program program([](uint64_t /*batch*/) { return 100; });
  const LargestValue found = *program.Find();
  EXPECT_EQ(found.scaling.largest, 1024u);
  EXPECT_EQ(found.scaling.fails, std::nullopt);
}

TEST(LargestValueTest, ValueThatFailsByItselfIsTheEnd) {
  Program program([](uint64_t batch) { return 100 + batch; });
  const LargestValue found = *program.FailsFrom(10).Find();
  EXPECT_EQ(found.scaling.largest, 9u);
  EXPECT_EQ(found.scaling.fails, 10u);
  EXPECT_FALSE(found.beyond.Failed());
}

TEST(LargestValueTest, LargestSurvivesAsManyStepsAsTheLeastWasWatched) {
  Program program([](uint64_t batch) { return 100 + 24 * batch; });
  const LargestValue found = *program.RunsOutLateFrom(30).Find();
  EXPECT_EQ(found.scaling.largest, 29u);
  EXPECT_EQ(found.scaling.fails, 30u);
}

TEST(LargestValueTest, NamesAndStepsAreParsed) {
  EXPECT_EQ(ParseLargest("batch")->step, 1u);
  EXPECT_EQ(ParseLargest("length=64")->name, "length");
  EXPECT_EQ(ParseLargest("length=64")->step, 64u);
  for (const char* wrong : {"", "=4", "length=", "length=0", "length=1,2"})
    EXPECT_TRUE(absl::StrContains(ParseLargest(wrong).status().message(), "--largest")) << wrong;
}

}  // namespace
}  // namespace memtrace::fit
