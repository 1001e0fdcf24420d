// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_TOP_HOLDERS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_TOP_HOLDERS_H_

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/holders.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the `rows` largest holders of `card`: roles of blocks in use (those of
// each tag and each model apart), and what is not a block, such as the context, holes and other
// processes; then the rest in one row, and what is free. The rows add up to the card, unless its
// ledger does not (`unexplained` is negative).
Section TopHolderSection(const analysis::CardExplanation& card,
                         const analysis::ExplainedHolders& holders, size_t rows);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_TOP_HOLDERS_H_
