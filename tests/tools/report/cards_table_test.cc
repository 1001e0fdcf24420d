// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/cards_table.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace memtrace::report {
namespace {

// Two cards of 8 GiB; card 0 is the one of the verdict.
class CardsTableTest : public testing::Test {
 protected:
  CardsTableTest() { explanation_.failure.request.emplace(); }

  void Add(uint64_t live, uint64_t others = 0) {
    trace::CardLedger account;
    account.total = 8_GiB;
    account.live_requested = account.live_allocated = live;
    account.other_processes = others;
    account.free = 8_GiB - live - others;
    analysis::CardExplanation card;
    card.index = static_cast<int32_t>(explanation_.cards.size());
    card.ledger = analysis::LedgerFromAccount(account);
    explanation_.cards.push_back(card);
  }

  analysis::Explanation explanation_;
};

TEST_F(CardsTableTest, IdleCardBesideAFullOneIsUneven) {
  Add(7_GiB);
  Add(0);
  EXPECT_EQ(UnevenSentence(explanation_),
            "The load is uneven: cards 0, 1 have 7.0, 0.0 GiB in use.");
}

TEST_F(CardsTableTest, HalfAsMuchIsEven) {
  Add(7_GiB);
  Add(3584_MiB);
  EXPECT_EQ(UnevenSentence(explanation_), "");
}

TEST_F(CardsTableTest, CardUsedByAnotherProcessIsNotPartOfTheLoad) {
  Add(7_GiB);
  Add(0, 1_GiB);
  EXPECT_EQ(UnevenSentence(explanation_), "");
}

TEST_F(CardsTableTest, LoadOfARankIsNotUneven) {
  Add(7_GiB);
  Add(0);
  explanation_.run.is_one_of_ranks = true;
  EXPECT_EQ(UnevenSentence(explanation_), "");
}

TEST_F(CardsTableTest, CompletedRunWithRoomIsNotUneven) {
  explanation_.failure.request.reset();
  Add(3_GiB);
  Add(1_GiB);
  EXPECT_EQ(UnevenSentence(explanation_), "");
}

TEST_F(CardsTableTest, OneCardHasNoTable) {
  Add(7_GiB);
  EXPECT_TRUE(CardsSection(explanation_).parts.empty());
  Add(0);
  EXPECT_FALSE(CardsSection(explanation_).parts.empty());
}

}  // namespace
}  // namespace memtrace::report
