// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_UNNEEDED_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_UNNEEDED_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns sentences, each with a blank behind it, about what the program held and no longer needed
// when a request failed. They come before the cause, because they are the answer to any.
std::string UnneededSentences(const analysis::Explanation& explanation);

// Returns how often the collector was called for a request that would have failed; empty if it was
// not.
std::string CollectionsSentence(const analysis::Explanation& explanation);

// Adds members for what was found: "failed_attempts", "dead_cycles".
void AddUnneeded(const analysis::Explanation& explanation, nlohmann::ordered_json& report);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_UNNEEDED_TEXT_H_
