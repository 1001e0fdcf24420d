// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FLEET_FLEET_ROW_H_
#define MEMTRACE_TOOLS_FLEET_FLEET_ROW_H_

#include <string>

#include "absl/status/statusor.h"
#include "profiler/trace/reading/trace_front.h"

namespace memtrace::fleet {

// One trace as a row of the table.
struct Row {
  std::string json;          // one line, by column; docs/fleets.md describes the columns
  std::string problem;       // a sentence; empty if all is known that a trace states
  bool has_figures = false;  // false if the trace has no readable summary
};

// Returns the row of the trace at `path`. What the trace does not state is left out of it. Thread
// rule: any thread.
Row RowOf(const std::string& path, const absl::StatusOr<trace::TraceFront>& front);

// Returns the row of a path that could not be read at all.
Row RowOfProblem(const std::string& path, const std::string& problem);

}  // namespace memtrace::fleet

#endif  // MEMTRACE_TOOLS_FLEET_FLEET_ROW_H_
