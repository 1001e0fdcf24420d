// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns what a terminal shows at first, in at most 25 lines of 100 columns: the verdict in three
// sentences, who holds the card, the two cheapest remedies, and the commands to go on with.
Document FirstScreen(const analysis::Explanation& explanation, const analysis::RunFacts& run);

// Returns the evidence: the other sentences of the verdict, then a section for each question.
// docs/reference/report.md explains each figure.
Document EvidenceSections(const analysis::Explanation& explanation, const analysis::RunFacts& run);

// Returns both, in this order.
Document WholeReport(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
