// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/next_step.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

// An update in step 1 of card 0 after passes that reached 500 bytes, on a card that holds 10 bytes
// of context, 20 outside the allocator and 30 of other processes.
class NextStepTest : public testing::Test {
 protected:
  NextStepTest() {
    trace::CardLedger account;
    account.total = 1000;
    account.context = 10;
    account.outside_allocator = 20;
    account.other_processes = 30;
    account.live_requested = 400;
    ledger_ = LedgerFromAccount(account);
    update_ = {
        .step = 1, .first_phase_run = 3, .last_event = 9, .over = true, .peak_before = {{0, 500}}};
    made_.by_role = {{"optimizer_state", 200, {}}, {"temporary", 70, {}}};
  }
  std::optional<NextStep> Foreseen(int32_t device = 0) const {
    return PredictNextStep(update_, device, made_, to_come_, ledger_);
  }

  Ledger ledger_;
  Update update_;
  Breakdown made_;
  uint64_t to_come_ = 0;
};

TEST_F(NextStepTest, NewStatesAreAddedToThePassesAndToOtherMemory) {
  const auto next = Foreseen();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->number, 2U);
  EXPECT_EQ(next->new_states, 200U);
  EXPECT_EQ(next->need, 500U + 200U + 10U + 20U + 30U);
}

TEST_F(NextStepTest, StatesMissingFromAFailedUpdateAreAdded) {
  update_.over = false;
  to_come_ = 150;
  const auto next = Foreseen();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->new_states, 350U);
  EXPECT_EQ(next->need, 500U + 350U + 10U + 20U + 30U);
}

TEST_F(NextStepTest, NothingIsPredictedIfTheUpdateMadeNoStates) {
  made_.by_role = {{"temporary", 70, {}}};
  EXPECT_FALSE(Foreseen().has_value());
}

TEST_F(NextStepTest, NothingIsPredictedIfTheNextPassesWereSeen) {
  update_.backward_followed = true;
  EXPECT_FALSE(Foreseen().has_value());
}

TEST_F(NextStepTest, NothingIsPredictedForAnUnusedCard) { EXPECT_FALSE(Foreseen(1).has_value()); }

TEST(MadeByUpdateTest, OnlyBlocksBornInTheOptimizerPhaseOfTheUpdateCount) {
  LiveSet live;
  const auto happens = [&live](const auto& payload) { live.Apply({.payload = payload}); };
  const auto allocate = [&happens](uint64_t address) {
    happens(trace::Allocate{.address = address, .requested = 100, .allocated = 512});
  };
  happens(trace::PhaseChange{trace::Phase::kOptimizer});
  allocate(512);
  happens(trace::PhaseChange{trace::Phase::kForward});
  allocate(1024);
  happens(trace::PhaseChange{trace::Phase::kOptimizer});
  Update update;
  update.first_phase_run = live.position().phase_run;
  allocate(1536);
  const auto made = MadeByUpdate(update, live.Capture(0), live);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(live.block(made[0].id).allocation.address, 1536U);
}

}  // namespace
}  // namespace memtrace::analysis
