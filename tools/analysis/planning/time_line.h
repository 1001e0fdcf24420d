// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_TIME_LINE_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_TIME_LINE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/analysis/packing/packing.h"
#include "tools/analysis/planning/repetition.h"
#include "tools/analysis/planning/request_log.h"

namespace memtrace::analysis {

// The times at which the blocks of a plan are alive. Each request is a point in time: first those
// of the prologue, then those of one cycle, which begins anew at its end.
//
//   prologue   |      cycle       |  cycle ...
//   aaaaaaaaaaa|aaaaaaaaaaaaaaaaaa|aaaaaa      never freed
//         ppppp|ppp               |            a wrapped block's predecessor: it lies where that
//         does
//              |        bbbb      |
//              |              wwww|www         wrapped: its place is free between the two
struct TimeLine {
  struct Wrapped {
    size_t item = 0;
    uint64_t free_from = 0;
    uint64_t free_until = 0;
  };

  std::vector<PackingItem> items;  // one a place; a wrapped one counts as alive in between
  std::vector<Wrapped> wrapped;    // with a time in between
  // Items of the prologue that have no time of their own: they lie where the wrapped ones do.
  std::vector<std::pair<size_t, size_t>> predecessors;
  size_t prologue = 0;
};

// Returns the time line of a whole run, once.
TimeLine TimeLineOf(const std::vector<RequestedBlock>& blocks);

// Returns what comes before the steps, and so many steps that no block is alive when its successor
// is born, cut where the fewest bytes of the steps are alive. A block lives as long as the longest
// of its repetitions.
TimeLine TimeLineOf(const std::vector<RequestedBlock>& blocks, const Repetition& repetition);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_TIME_LINE_H_
