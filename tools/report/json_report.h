// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_JSON_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_JSON_REPORT_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns the report for programs: schema "memtrace.report/1" (docs/reference/report.md), bytes as
// integers. Keys are only ever added.
std::string JsonReport(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_JSON_REPORT_H_
