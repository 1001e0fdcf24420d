// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/remedies.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A card of 100 MiB; step 1 failed in an AdamW update whose copy takes 40 MiB, 30 of them too many.
class RemediesTest : public testing::Test {
 protected:
  RemediesTest() {
    ledger_.total = 100 * kMiB;
    verdict_.step_short_by = 30 * kMiB;
    copy_ = ForeachCopy{.optimizer = "AdamW", .copy_bytes = 40 * kMiB};
  }
  std::vector<Remedy> Found() const { return FindRemedies(verdict_, ledger_, copy_, next_, 1); }

  Ledger ledger_;
  Verdict verdict_;
  std::optional<ForeachCopy> copy_;
  std::optional<NextStep> next_;
};

TEST_F(RemediesTest, WithoutANextStepThisOneDecides) {
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].need(), 90 * kMiB);
  EXPECT_EQ(remedies[0].change, "AdamW(..., fused=True), or foreach=False");
  EXPECT_EQ(remedies[1].need(), 130 * kMiB);
}

TEST_F(RemediesTest, TheNextStepDecidesWhereItNeedsMore) {
  next_ = NextStep{.number = 2, .new_states = 60 * kMiB, .need = 110 * kMiB};
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].this_step, 90 * kMiB);
  EXPECT_EQ(remedies[0].need(), 110 * kMiB);
  EXPECT_EQ(remedies[1].need(), 130 * kMiB);
}

TEST_F(RemediesTest, AStepThatWasForeseenAndFailedNeedsWhatWasForeseen) {
  next_ = NextStep{.number = 1, .new_states = 60 * kMiB, .need = 110 * kMiB};
  copy_.reset();
  verdict_.step_short_by.reset();
  const auto remedies = Found();
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_EQ(remedies[0].name, "a larger card");
  EXPECT_EQ(remedies[0].need(), 110 * kMiB);
  EXPECT_FALSE(remedies[0].next_step.has_value());
}

TEST_F(RemediesTest, WithoutAKnownNeedNothingIsGuessed) {
  verdict_.step_short_by.reset();
  EXPECT_TRUE(Found().empty());
  verdict_.step_short_by = kMiB;
  ledger_.total_known = false;
  EXPECT_TRUE(Found().empty());
}

}  // namespace
}  // namespace memtrace::analysis
