// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_USAGE_CURVE_H_
#define MEMTRACE_TOOLS_ANALYSIS_USAGE_CURVE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/trace/event.h"
#include "tools/analysis/event_source.h"

namespace memtrace::analysis {

inline constexpr size_t kRoles = static_cast<size_t>(trace::Role::kBuffer) + 1;

// Some neighbouring events of a trace. Requested bytes of one card, counted as in a peak.
struct UsageColumn {
  uint64_t first_event = 0;  // ordinal, from 1
  uint64_t least = 0;
  uint64_t most = 0;
  std::array<uint64_t, kRoles> by_role{};  // when it was most
  uint64_t reserved = 0;                   // the most mapped; 0 where no trace tells
};

struct StepMark {
  uint64_t event = 0;
  uint64_t step = 0;
};

// What a card held over a run, in columns of equally many events: no rise between two columns is
// lost, however many events there are.
struct UsageCurve {
  uint64_t events = 0;
  uint64_t events_of_column = 1;
  std::vector<UsageColumn> columns;
  std::vector<uint64_t> failures;  // events
  std::vector<StepMark> steps;
};

// At most `columns` of them. `events`: as the trace has, counted before. Reads the source twice.
UsageCurve CurveOf(const EventSource& source, int32_t device, uint64_t events, size_t columns);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_USAGE_CURVE_H_
