// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/views/run_detail.h"

namespace memtrace::report {

// Returns the data that the page's script draws, as JSON (docs/reference/page.md, "The data").
// `file` is the user's name for the trace. `detail` and `explanation` belong to `source`, and so
// does `after`, which the page compares them with.
std::string PageData(const std::string& file, const analysis::Explanation& explanation,
                     const analysis::RunDetail& detail, const analysis::EventSource& source,
                     const analysis::Explanation* after = nullptr);

// Returns the data deflated (RFC 1950) and in base64, which no markup can end.
std::string Packed(const std::string& data);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_
