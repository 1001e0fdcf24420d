// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/explained_cards.h"

#include <algorithm>
#include <utility>

namespace memtrace::analysis {
namespace {

const trace::CardLedger* AccountOf(const FailedRequest& failed, int32_t device) {
  for (const trace::CardLedger& account : failed.event.cards) {
    if (account.device == device) return &account;
  }
  return nullptr;
}

// At a failure the process recorded where every byte is; only the replay knows the pieces.
Ledger LedgerOf(const trace::CardLedger& account, const CapturedCard& replayed) {
  if (replayed.segments.empty()) return LedgerFromAccount(account);
  const Ledger& ledger = replayed.ledger;
  return LedgerFromAccount(account, {.cached = ledger.positive(LedgerPart::kCached),
                                     .holes = ledger.positive(LedgerPart::kHoles),
                                     .largest_hole = ledger.largest_hole,
                                     .private_pools = ledger.positive(LedgerPart::kPrivatePools),
                                     .granules = ledger.granules,
                                     .pools = ledger.pools});
}

}  // namespace

Ledger LedgerAtFailure(const FailedRequest& failed, int32_t device, const CapturedCard& replayed) {
  const trace::CardLedger* account = AccountOf(failed, device);
  return account == nullptr ? replayed.ledger : LedgerOf(*account, replayed);
}

size_t FullestCard(const std::vector<CardExplanation>& cards) {
  const auto fullness = [](const CardExplanation& card) {
    const double total = card.ledger.total_known ? static_cast<double>(card.ledger.total) : 0;
    const auto live = static_cast<double>(card.ledger.bytes(LedgerPart::kLive));
    return std::pair(total > 0 ? live / total : 0, live);
  };
  const auto fullest = std::max_element(
      cards.begin(), cards.end(), [&fullness](const CardExplanation& a, const CardExplanation& b) {
        return fullness(a) < fullness(b);
      });
  return static_cast<size_t>(fullest - cards.begin());
}

size_t CardOf(const std::vector<CardExplanation>& cards, int32_t device) {
  const auto found =
      std::find_if(cards.begin(), cards.end(),
                   [device](const CardExplanation& card) { return card.index == device; });
  return static_cast<size_t>(found - cards.begin());
}

}  // namespace memtrace::analysis
