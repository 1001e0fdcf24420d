// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_CHECK_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_CHECK_REPORT_H_

#include <string>
#include <vector>

#include "tools/analysis/limits.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns a line a limit, and what to look at if one is exceeded.
std::string TextCheck(const std::vector<analysis::LimitCheck>& checks,
                      const analysis::RunFacts& run);

// Returns JSON, schema memtrace.check/1. What is not known is null.
std::string JsonCheck(const std::vector<analysis::LimitCheck>& checks,
                      const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_CHECK_REPORT_H_
