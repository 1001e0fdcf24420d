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

// The report as one HTML file that needs nothing else: docs/page.md. The words of the terminal's
// report in its order, then what a terminal cannot draw. What a trace says is text in it, never
// markup: a policy in the page itself forbids every script but ours, and every load.
// `detail`: of the same explanation; `source`: of both.
std::string Page(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                 const analysis::RunDetail& detail, const analysis::EventSource& source);

// Any other document; `title` is the window's.
std::string PageOf(const std::string& title, const Document& document);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_H_
