// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_

#include <string_view>

namespace memtrace::trace {

// How the path of a label ends whose block has a size that the simulated card made up by a rule
// (docs/simulated-card.md): "cuDNN workspace, size assumed". The library's name stands before it.
inline constexpr std::string_view kAssumedWorkspace = " workspace, size assumed";

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_
