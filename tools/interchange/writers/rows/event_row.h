// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_ROW_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_ROW_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/analysis/replayed/block_walk.h"
#include "tools/interchange/writers/rows/column.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// One event, flat: a line of CSV and JSONL, a row of SQLite and Parquet.
struct EventRow {
  Moment when;
  std::string_view kind;  // as in the text form of a trace: "alloc", "free_completed"
  Cell device;
  Cell address;
  Cell size;  // bytes: requested of allocations and of frees
  Cell allocated;
  Cell stream;
  Cell pool;
  Cell block;  // number of the block it is of
  Cell role;
  Cell role_known;
  Cell owner;
  Cell module;
  Cell path;
  Cell stack;
  std::string detail;  // what else the event says, as a JSON object; empty: nothing
};

// Returns the row of `event`, which `walk` has just applied.
EventRow RowOf(const trace::Event& event, const BlockWalk& walk, const ExportedRun& run);

extern const std::array<Column<EventRow>, 19> kEventColumns;

// Visits the rows of all events. Reads the trace once.
void ForEachRow(const ExportedRun& run, const std::function<void(const EventRow&)>& visit);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_ROW_H_
