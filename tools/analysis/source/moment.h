// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_MOMENT_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_MOMENT_H_

#include <cstdint>

#include "tools/analysis/source/position.h"

namespace memtrace::analysis {

// The moment at which something happened.
struct Moment {
  uint64_t sequence = 0;
  uint64_t time_ns = 0;  // since the trace began
  uint64_t ordinal = 0;  // of the event of the trace that says so, from 1
  Position at;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_MOMENT_H_
