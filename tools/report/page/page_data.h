// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/views/run_detail.h"

namespace memtrace::report {

// What the page's script draws, as JSON (docs/page.md, "The data"). `file`: as the user named it.
// `source`: that `detail` and `explanation` are of. `after`: of the same source, what the page
// compares it with.
std::string PageData(const std::string& file, const analysis::Explanation& explanation,
                     const analysis::RunDetail& detail, const analysis::EventSource& source,
                     const analysis::Explanation* after = nullptr);

// Deflated (RFC 1950) and in base64: text that no markup can end.
std::string Packed(const std::string& data);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_DATA_H_
