// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns "optimizer.step()" or "forward"; empty for no phase.
std::string PhaseWords(trace::Phase phase);

// Returns "in step 1, optimizer.step()" or "before the first step, init".
std::string DescribePosition(const analysis::Position& position);

// Returns the explained moment: "oom", "peak", or the user's text.
std::string MomentName(const analysis::Explanation& explanation);

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
