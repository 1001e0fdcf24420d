// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_

#include <cstddef>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// How much a first screen lists.
struct FirstScreenSize {
  size_t holders = 5;
  size_t remedies = 2;
};

// Returns what a person sees at first: the verdict in three sentences, who holds the card, the
// cheapest remedies, and the commands to go on with.
Document FirstScreen(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                     FirstScreenSize size = {});

// Returns the same for a terminal: with a long verdict it lists less, so that all of it has at most
// 25 lines if that is possible.
Document FirstScreenOfTerminal(const analysis::Explanation& explanation,
                               const analysis::RunFacts& run);

// Returns the evidence: the other sentences of the verdict, then a section for each question.
// docs/reference/report.md explains each figure.
Document EvidenceSections(const analysis::Explanation& explanation, const analysis::RunFacts& run);

// Returns both, in this order.
Document WholeReport(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
