// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns the report for people: the first screen and, if `verbose`, the evidence after it. It has
// at most Columns() columns but for commands to paste, no color, and nothing unescaped from the
// trace. docs/reference/report.md explains each figure.
std::string TextReport(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                       bool verbose);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_TEXT_REPORT_H_
