// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_LEDGER_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_LEDGER_TABLE_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the ledger of the card of the verdict, with roles below what is in use; its printed
// figures add up.
Section LedgerSection(const analysis::Explanation& explanation,
                      const analysis::SimulationFacts& simulation);

// Returns the words for an entry, which note if cached memory and holes are not told apart.
std::string EntryLabel(const analysis::Ledger& ledger, const analysis::LedgerEntry& entry);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_LEDGER_TABLE_H_
