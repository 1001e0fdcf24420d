// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_REQUEST_FACTS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_REQUEST_FACTS_H_

#include "tools/analysis/verdict/explained_request.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Describes the request that failed: its purpose, and first the user's own line, because that is
// what can be changed. Empty without one.
Section RequestSection(const std::optional<analysis::ExplainedRequest>& failed);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_REQUEST_FACTS_H_
