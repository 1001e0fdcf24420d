// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// The report for people: verdict first, then what it rests on. At most Columns() columns, no
// colour, nothing from the trace unescaped. docs/report.md says what each figure means.
std::string TextReport(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_
