// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_DIFF_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_DIFF_DOCUMENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/sections/tree_level.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// One side of a comparison.
struct DiffSide {
  const analysis::Explanation& explanation;
  const analysis::RunFacts& run;

  const analysis::CardExplanation& card() const { return explanation.card_of_verdict(); }
  std::string moment() const;
};

struct DiffStyle {
  std::vector<TreeLevel> levels;  // at least one
  size_t rows = 30;               // the most rows; 0 is all
};

// Compares two moments of one run or of two: the requested bytes in use, the same by the levels
// with the largest change first, and the ledger of the card.
Document DiffDocument(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_DIFF_DOCUMENT_H_
