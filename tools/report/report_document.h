// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the report in words: the verdict first, then its evidence. docs/report.md explains each
// figure.
Document ReportDocument(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_REPORT_DOCUMENT_H_
