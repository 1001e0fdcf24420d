// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_

#include <string_view>

namespace memtrace::trace {

// The end of a label's path if the simulated card only assumed the size of the block
// (docs/design/simulated-card.md): "cuDNN workspace, size assumed". The library's name comes before
// it.
inline constexpr std::string_view kAssumedWorkspace = " workspace, size assumed";

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_ASSUMED_SIZE_H_
