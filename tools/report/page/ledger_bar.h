// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_

#include <string>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Draws a bar for each card, as SVG without a script: its ledger from left to right. For the card
// of the verdict, `live` is split by role. Each part has its exact bytes as a tooltip. The classes
// are "k-" and the name of the entry or role.
std::string LedgerBars(const analysis::Explanation& explanation);

// Draws the cards of two verdicts below each other, to one scale.
std::string LedgerBarsOfTwo(const analysis::Explanation& before,
                            const analysis::Explanation& after);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_LEDGER_BAR_H_
