// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ROLE_INFERENCE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ROLE_INFERENCE_H_

#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"

namespace memtrace::analysis {

// Returns the role of a block for which none was stated, from the phase it was born in and how long
// it lived; kUnknown if that says nothing. `end` is where the trace ends. docs/reference/report.md
// has the table.
trace::Role InferRole(const Block& block, const Position& end);

// Returns the role of a failed request, which has no lifetime, but a stack.
trace::Role InferRequestRole(const Position& at, const std::vector<trace::Frame>& stack);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ROLE_INFERENCE_H_
