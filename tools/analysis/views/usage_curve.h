// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_CURVE_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_CURVE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/views/block_index.h"

namespace memtrace::analysis {

inline constexpr size_t kRoles = trace::kRoleCount;

// Ordinals of events, from 1; both ends included.
struct EventRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// Some neighbouring events of a trace. Requested bytes of one card, counted as in a peak.
struct UsageColumn {
  uint64_t first_event = 0;  // ordinal, from 1
  uint64_t least = 0;
  uint64_t most = 0;
  uint64_t most_event = 0;                 // the first event after which it was most
  std::array<uint64_t, kRoles> by_role{};  // then
  uint64_t reserved = 0;                   // the most mapped; 0 if the trace does not tell
};

// The least and the most of fewer events, for a closer look at a column.
struct UsageLevel {
  uint64_t least = 0;
  uint64_t most = 0;
};

struct StepMark {
  uint64_t event = 0;
  uint64_t step = 0;
};
struct PhaseMark {
  uint64_t event = 0;
  trace::Phase phase = trace::Phase::kOther;
};
struct FailureMark {
  uint64_t event = 0;
  uint64_t ns = 0;
  uint64_t requested = 0;
  uint64_t allocated = 0;
  uint64_t obtainable = 0;
  trace::StackId stack = 0;
};

// The bytes that a card held over a run, in columns of equally many events: no rise between two
// columns is lost, however many events there are.
struct UsageCurve {
  uint64_t events = 0;
  uint64_t events_of_column = 1;  // at most
  std::vector<UsageColumn> columns;
  uint64_t events_of_level = 1;
  std::vector<UsageLevel> levels;     // of equally many events
  std::vector<FailureMark> failures;  // of the card
  std::vector<StepMark> steps;        // of the run, like the phases
  std::vector<PhaseMark> phases;
  std::array<uint64_t, 64> blocks_by_size{};  // born on the card: by log2 of the bytes requested
};

struct CurvePlan {
  int32_t device = 0;
  uint64_t events = 0;            // of the trace, counted before
  size_t levels = 1;              // at most
  size_t columns = 1;             // at most ...
  std::vector<EventRange> edges;  // ... and those that begin where one of these begins or has ended
};

// Reads the source once. `blocks`: those of the same source.
UsageCurve CurveOf(const EventSource& source, const BlockIndex& blocks, const CurvePlan& plan);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_CURVE_H_
