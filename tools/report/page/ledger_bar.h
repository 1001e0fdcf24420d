// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_

#include <string>
#include <vector>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/holders.h"

namespace memtrace::report {

// A card, and who holds it.
struct HeldCard {
  const analysis::CardExplanation& card;
  const analysis::ExplainedHolders& holders;
};

// Draws a bar for each card, as SVG without a script: its ledger from left to right. For the card
// of the verdict, which is one of `cards`, `live` is split by role. Each part has its exact bytes
// as a tooltip. The classes are "k-" and the name of the entry or role.
std::string LedgerBars(const std::vector<analysis::CardExplanation>& cards,
                       const HeldCard& of_verdict);

// Draws the cards of two verdicts below each other, to one scale.
std::string LedgerBarsOfTwo(const HeldCard& before, const HeldCard& after);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_
