// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The held memory that the program's variables reach.
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/analysis/explained/holders.h"
#include "tools/analysis/source/variables.h"

namespace memtrace::report {

// Returns "Reached by variables: optimizer (AdamW, train.py) 11.61 GiB · ..."; empty if none is
// known.
std::string VariablesText(const std::vector<analysis::Variable>& variables,
                          const analysis::ExplainedHolders& holders);

nlohmann::ordered_json VariablesJson(const std::vector<analysis::Variable>& variables);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_VARIABLES_TEXT_H_
