// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PLAN_OF_PROCESS_H_
#define MEMTRACE_INTERPOSE_CORE_PLAN_OF_PROCESS_H_

#include <memory>

#include "allocator/plan/plan.h"
#include "allocator/plan/planned_memory.h"
#include "profiler/recorder/program_recorder.h"

namespace memtrace {

// Returns the plan that MEMTRACE_PLAN names; null if it names none or one that cannot be used. In
// the latter case the program goes on and a line on stderr tells why.
std::shared_ptr<const Plan> ReadPlanOfProcess();

// Writes into the trace which plan was used and how many blocks were placed as planned.
void RecordPlanUse(const PlanUse& use, recorder::ProgramRecorder& program);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PLAN_OF_PROCESS_H_
