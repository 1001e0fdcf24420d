// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_

#include <string>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns "optimizer.step()" or "forward"; empty for no phase.
std::string PhaseWords(trace::Phase phase);

// Returns "in step 1, optimizer.step()" or "before the first step, init".
std::string DescribePosition(const analysis::Position& position);

// Returns the explained moment: "oom", "peak", or the user's text.
std::string MomentName(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_
