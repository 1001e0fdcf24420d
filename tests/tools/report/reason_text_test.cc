// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/reason_text.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace memtrace::report {
namespace {

// Returns why a request failed on a full card of 2 GiB, of which the rest is in use.
std::string ReasonOnCardWith(uint64_t context, uint64_t others) {
  trace::CardLedger account;
  account.total = 2_GiB;
  account.context = context;
  account.other_processes = others;
  account.live_requested = account.live_allocated = 2_GiB - context - others;
  analysis::CardExplanation card;
  card.ledger = analysis::LedgerFromAccount(account);
  analysis::ExplainedFailure failure;
  failure.request.emplace().bytes = 100_MiB;
  failure.verdict.cause = analysis::Cause::kCapacity;
  return ReasonSentence(card, failure);
}

TEST(ReasonTextTest, RestOfAFullCardIsNamed) {
  EXPECT_EQ(ReasonOnCardWith(500_MiB, 0),
            "The card is full, not fragmented: 1.51 GiB of 2.00 GiB is in use. The context of the "
            "driver and the CUDA libraries takes 500.0 MiB.");
  EXPECT_EQ(ReasonOnCardWith(50_MiB, 400_MiB),
            "The card is full, not fragmented: 1.56 GiB of 2.00 GiB is in use. Other processes "
            "hold 400.0 MiB of the card.");
}

TEST(ReasonTextTest, SmallRestOfAFullCardIsNotNamed) {
  EXPECT_EQ(ReasonOnCardWith(50_MiB, 50_MiB),
            "The card is full, not fragmented: 1.90 GiB of 2.00 GiB is in use.");
}

}  // namespace
}  // namespace memtrace::report
