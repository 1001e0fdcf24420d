// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PLAN_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_PLAN_REPORT_H_

#include <string>

#include "tools/analysis/planning/memory_plan.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns the plan by card and stream, with the lower bound and the memory that the run had
// reserved.
std::string TextPlan(const analysis::MemoryPlan& plan, const analysis::RunFacts& run);
// Returns JSON, schema "memtrace.plan/1": streams[].{device,stream,planned,lower_bound,...},
// devices[].reserved.
std::string JsonPlan(const analysis::MemoryPlan& plan, const analysis::RunFacts& run);

// Returns "12 of 14 large allocations went where run.plan has them"; empty for a run without a
// plan.
std::string PlanLine(const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PLAN_REPORT_H_
