// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/remedies.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A card of 100 MiB. Step 1 failed in an AdamW update whose copy takes 40 MiB, 30 of which did not
// fit.
class RemediesTest : public testing::Test {
 protected:
  RemediesTest() {
    ledger_.total = 100 * kMiB;
    verdict_.step_short_by = 30 * kMiB;
    verdict_.cause = Cause::kCapacity;
    savings_ = {{"fused optimizer", 40 * kMiB, 0, "estimated", Effort::kOption, "none",
                 "AdamW(..., fused=True)"}};
  }
  std::vector<Remedy> Found() const { return FindRemedies(verdict_, ledger_, next_, 1, savings_); }

  Ledger ledger_;
  Verdict verdict_;
  std::vector<Saving> savings_;
  std::optional<NextStep> next_;
};

TEST_F(RemediesTest, NeedIsAtLeastIfTheRestOfTheStepIsUnknown) {
  verdict_.step_short_by.reset();
  verdict_.short_by = 30 * kMiB;
  EXPECT_TRUE(Found()[0].at_least);
  savings_[0].is_whole = true;
  EXPECT_FALSE(Found()[0].at_least);
}

TEST_F(RemediesTest, NeedIsThatOfThisStepWithoutANext) {
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].need(), 90 * kMiB);
  EXPECT_EQ(remedies[0].change, "AdamW(..., fused=True)");
  EXPECT_EQ(remedies[1].need(), 130 * kMiB);
}

TEST_F(RemediesTest, NeedIsThatOfTheNextStepIfLarger) {
  next_ = NextStep{.number = 2, .new_states = 60 * kMiB, .need = 110 * kMiB};
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].this_step, 90 * kMiB);
  EXPECT_EQ(remedies[0].need(), 110 * kMiB);
  EXPECT_EQ(remedies[1].need(), 130 * kMiB);
}

TEST_F(RemediesTest, FailedPredictedStepKeepsItsPredictedNeed) {
  next_ = NextStep{.number = 1, .new_states = 60 * kMiB, .need = 110 * kMiB};
  savings_.clear();
  verdict_.step_short_by.reset();
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_EQ(remedies[0].name, "a larger card");
  EXPECT_EQ(remedies[0].need(), 110 * kMiB);
  EXPECT_FALSE(remedies[0].next_step.has_value());
}

TEST_F(RemediesTest, UnknownNeedIsALowerBound) {
  verdict_.step_short_by.reset();
  verdict_.short_by = 20 * kMiB;
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].need(), 80 * kMiB);
  EXPECT_TRUE(remedies[0].at_least);
}

TEST_F(RemediesTest, WithoutAKnownNeedOnlyRemediesWithMarginFit) {
  verdict_.step_short_by.reset();
  verdict_.short_by = 20 * kMiB;
  savings_[0].percent_that_fits = 80;
  EXPECT_FALSE(Found()[0].at_least);  // 80 MiB of 100
  savings_[0].percent_that_fits = 79;
  EXPECT_TRUE(Found()[0].at_least);
  savings_[0].percent_that_fits = 80;
  savings_[0].at_least = true;
  EXPECT_TRUE(Found()[0].at_least);
}

TEST_F(RemediesTest, NoLargerCardIsOfferedForAnUnknownCard) {
  ledger_.total_known = false;
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_EQ(remedies[0].name, "fused optimizer");
}

TEST_F(RemediesTest, RemediesAreSortedByEffortThenByNeed) {
  savings_.push_back({"lines", 90 * kMiB, 0, "estimated", Effort::kLines, "", ""});
  savings_.push_back({"little", 10 * kMiB, 0, "estimated", Effort::kSetting, "", ""});
  savings_.push_back({"more", 20 * kMiB, 0, "estimated", Effort::kResults, "", ""});
  std::vector<std::string> names;
  for (const Remedy& remedy : Found()) names.push_back(remedy.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fused optimizer", "lines", "more", "little",
                                             "a larger card"}));
}

TEST_F(RemediesTest, CompletedRunNeedsWhatItUsed) {
  verdict_ = Verdict();
  ledger_.entries = {{LedgerPart::kLive, int64_t{60 * kMiB}},
                     {LedgerPart::kCached, int64_t{10 * kMiB}},
                     {LedgerPart::kFree, int64_t{30 * kMiB}}};
  ledger_.granules = 10 * kMiB;
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 1U);  // no larger card
  EXPECT_EQ(remedies[0].need(), 20 * kMiB);
}

TEST_F(RemediesTest, NothingFitsIfMemoryGrowsEachStep) {
  std::vector<Remedy> remedies = Found();
  ASSERT_FALSE(remedies[0].at_least);
  MarkFitsUncertain(remedies, ledger_);
  for (const Remedy& remedy : remedies) EXPECT_TRUE(remedy.at_least) << remedy.name;
}

}  // namespace
}  // namespace memtrace::analysis
