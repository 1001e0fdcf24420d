// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program's variables reach of the memory that is held.
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// "reached by variables: optimizer (AdamW, train.py) 11.61 GiB · ..."; empty if none is known.
std::string VariablesText(const analysis::Explanation& explanation);

nlohmann::ordered_json VariablesJson(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_
