// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_

#include <optional>
#include <string>

#include "profiler/trace/events/event.h"
#include "tools/analysis/explained/failure.h"
#include "tools/analysis/replayed/moment_spec.h"
#include "tools/analysis/source/moment.h"

namespace memtrace::report {

// Returns "optimizer.step()" or "forward"; empty for no phase.
std::string PhaseWords(trace::Phase phase);

// Returns "in step 1, optimizer.step()" or "before the first step, init".
std::string DescribePosition(const analysis::Position& position);

// Returns the explained moment: the one that was asked for, in the user's text, else "oom" or
// "peak".
std::string MomentName(const std::optional<analysis::MomentSpec>& asked,
                       const analysis::ExplainedFailure& failure);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_POSITION_WORDS_H_
