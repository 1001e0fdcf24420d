// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// The role of a block about which nobody stated one; kUnknown where nothing is to be said. `birth`
// is the phase it was born in, `gone` whether its free was requested, `stayed_in_phase` whether
// that happened (or, of a living block, whether we are) in the same stay in that phase.
// docs/report.md has the table.
Role InferRole(Phase birth, bool stayed_in_phase, bool gone);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_INFERRED_ROLE_H_
