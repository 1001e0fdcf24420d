// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// The verdict in sentences: what happened and why, then what else a person should know, the most
// important first.
struct VerdictText {
  std::vector<std::string> first;   // at most three, for the first screen
  std::vector<std::string> others;  // may be empty
};
VerdictText VerdictTextOf(const analysis::Explanation& explanation);

// Returns all sentences of the verdict.
std::vector<std::string> VerdictSentences(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_
