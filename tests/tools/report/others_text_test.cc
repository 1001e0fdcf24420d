// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/others_text.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace memtrace::report {
namespace {

// A card whose own context is 520 MiB, with 3 GiB of others.
analysis::CardExplanation CardWith(const char* processes) {
  trace::CardLedger account;
  account.total = 8_GiB;
  account.context = 520_MiB;
  account.other_processes = 3_GiB;
  analysis::CardExplanation card;
  card.ledger = analysis::LedgerFromAccount(account);
  card.others = analysis::ParseOtherProcesses(processes);
  return card;
}

TEST(OthersTextTest, WorkerContextsAreNamedAndTheRestIsOfOtherPrograms) {
  const auto card = CardWith("11 545259520 data_worker;12 545259520 data_worker");
  EXPECT_EQ(OthersClause(card),
            "2 DataLoader workers of this program hold 1.02 GiB of the card (520.0 MiB each, only "
            "contexts); other programs hold 1.98 GiB");
  const std::vector<OtherRow> rows = OtherRows(card);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].bytes + rows[1].bytes, 3_GiB);
  EXPECT_EQ(rows[1].name, "other programs");
}

TEST(OthersTextTest, RankIsNamedWithTheLargestHolderOfItsTrace) {
  auto card = CardWith("11 3221225472 rank 1");
  card.others[0].holds = {.file = "run.trace.11",
                          .context = 520_MiB,
                          .live = 2_GiB,
                          .largest = "parameter lm_head (train.py:9)",
                          .largest_bytes = 1_GiB};
  EXPECT_EQ(OthersClause(card),
            "Rank 1 (process 11) holds 3.00 GiB of the card (largest: parameters at "
            "lm_head (train.py:9), 1.00 GiB)");
}

TEST(OthersTextTest, NothingIsPrintedWithoutAKnownProcess) {
  EXPECT_EQ(OthersClause(CardWith("")), "");
  EXPECT_TRUE(OtherRows(CardWith("")).empty());
}

}  // namespace
}  // namespace memtrace::report
