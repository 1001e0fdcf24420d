// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// Returns the role of a block for which none was stated; kUnknown if none can be inferred. `birth`
// is the phase in which it was allocated; `gone` is true if its free was requested;
// `stayed_in_phase` is true if that happened (or, for a living block, if the program still is) in
// the same stay in that phase. docs/reference/report.md has the table.
Role InferRole(Phase birth, bool stayed_in_phase, bool gone);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_
