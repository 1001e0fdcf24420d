// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_COLUMN_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_COLUMN_H_

#include <cstdint>
#include <string_view>
#include <variant>

#include "profiler/trace/events/event.h"

namespace memtrace::interchange {

struct Address {
  uint64_t value = 0;
};
// A string of the trace, written as text if a format has no table of strings.
struct Name {
  trace::StringId id = 0;
};
// A stack of the trace; 0 is none.
struct StackRef {
  trace::StackId id = 0;
};

// One value of a row; monostate is "does not apply".
using Cell =
    std::variant<std::monostate, int64_t, uint64_t, Address, Name, StackRef, std::string_view>;

// Returns an empty cell for no name.
inline Cell NameCell(trace::StringId id) { return id == 0 ? Cell() : Cell(Name{id}); }

// The type of all cells of a column that are present.
enum class ColumnType : uint8_t { kInteger, kAddress, kName, kStack, kText };

// One column of a table, the same in every format (docs/reference/export.md).
template <typename Row>
struct Column {
  std::string_view name;
  ColumnType type;
  Cell (*cell)(const Row& row);
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_COLUMN_H_
