// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BLOCK_ROW_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BLOCK_ROW_H_

#include <array>
#include <optional>

#include "tools/analysis/replayed/block_walk.h"
#include "tools/interchange/writers/rows/column.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// One block from its birth to its end, flat.
struct BlockRow {
  const WalkedBlock& block;
  std::optional<Moment> death;  // none: it lives when the trace ends
  Identity identity;            // of most of its bytes
  bool at_peak = false;         // it was alive at its card's peak
};

extern const std::array<Column<BlockRow>, 24> kBlockColumns;

// Returns the row of a block that ends with the event applied last or, if `death` is nullopt, with
// the trace.
BlockRow RowOf(const WalkedBlock& block, std::optional<Moment> death, const ExportedRun& run);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BLOCK_ROW_H_
