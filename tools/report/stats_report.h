// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_STATS_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_STATS_REPORT_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns the figures of each card at the end of the trace, its peak by role, and the trace's
// contents.
std::string TextStats(const analysis::Explanation& explanation, const analysis::RunFacts& run);
// Returns JSON, schema "memtrace.stats/1": devices[].{index,reserved,allocated,peak,...}, events,
// lost.
std::string JsonStats(const analysis::Timeline& timeline, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_STATS_REPORT_H_
