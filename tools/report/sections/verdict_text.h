// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// "optimizer.step()", "forward"; empty for what is none.
std::string PhaseWords(trace::Phase phase);

// "in step 1, optimizer.step()", "before the first step, init".
std::string DescribePosition(const analysis::Position& position);

// What is explained: "oom", "peak", or as it was asked for.
std::string MomentName(const analysis::Explanation& explanation);

// The verdict in sentences: what happened and why; what was missing; what the rest of the step
// would have needed; what else contributed.
std::vector<std::string> VerdictSentences(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_VERDICT_TEXT_H_
