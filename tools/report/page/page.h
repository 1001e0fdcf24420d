// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/run_detail.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the report as one HTML file that needs nothing else (docs/reference/page.md): the words
// of the terminal's report in the same order, then what a terminal cannot draw. Text of a trace
// stays text and is never markup: the page's own policy forbids every script but ours, and every
// load. `detail` belongs to the explanation, and `source` to both.
std::string Page(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                 const analysis::RunDetail& detail, const analysis::EventSource& source);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_H_
