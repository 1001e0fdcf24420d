// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/analysis/verdict/verdict.h"

namespace memtrace::report {

// Returns why the last request failed and what was still to come, for memtrace.report/1: "verdict".
// `sentences` say the same to people.
nlohmann::ordered_json VerdictJson(const analysis::Verdict& verdict,
                                   const std::vector<std::string>& sentences);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_JSON_H_
