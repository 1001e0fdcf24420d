// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_

#include "nlohmann/json.hpp"
#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns why the last request failed and what was still to come, for memtrace.report/1: "verdict".
nlohmann::ordered_json VerdictJson(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_
