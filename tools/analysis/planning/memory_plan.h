// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_MEMORY_PLAN_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "allocator/plan/plan.h"
#include "base/units.h"
#include "tools/analysis/packing/packing.h"
#include "tools/analysis/planning/repetition.h"
#include "tools/analysis/planning/request_log.h"

namespace memtrace::analysis {

// The plan of one stream, and how it came about.
struct StreamPlan {
  PlanSection section;
  Repetition repetition;
  Bytes lower_bound = 0;         // of the planned bytes: the most that are alive at one time
  bool is_optimal = false;       // no plan of these blocks has fewer bytes
  bool ends_in_failure = false;  // the last item is the request that failed
  size_t requests = 0;           // of the run
  Bytes requested = 0;           // by these requests
  Bytes planned = 0;             // by those of them that have a place
};

struct MemoryPlan {
  std::vector<StreamPlan> streams;
  Bytes requested = 0;                // including small requests
  std::map<int32_t, Bytes> reserved;  // the most that the run reserved, by card

  Plan plan() const;
};

// Plans places for the requests of a run (docs/design/plan.md): everything before its steps, and
// one step, or as many as it takes until all blocks of a step have a place of their own.
StreamPlan PlanStream(const StreamRequests& requests, bool ends_in_failure,
                      const PackingBudget& budget = {});
MemoryPlan PlanMemory(const RequestLog& log, const PackingBudget& budget = {});

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_MEMORY_PLAN_H_
