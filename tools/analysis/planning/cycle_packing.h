// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_CYCLE_PACKING_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_CYCLE_PACKING_H_

#include "tools/analysis/packing/packing.h"
#include "tools/analysis/planning/time_line.h"

namespace memtrace::analysis {

// Packs a time line whose cycle begins anew. Wrapped blocks are alive at two times, which Pack does
// not know. They either keep their places in between or, if that makes the whole lower, lie at the
// bottom, with others in their places that are gone before they come back. The lower bound is that
// of the time line itself.
Packing PackCycle(const TimeLine& line, const PackingBudget& budget = {});

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_CYCLE_PACKING_H_
