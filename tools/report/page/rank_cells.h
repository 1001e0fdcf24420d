// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_RANK_CELLS_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_RANK_CELLS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tools/analysis/jobs/rank_grid.h"

namespace memtrace::report {

// Where the cells of the grid are drawn, in units of the drawing. A cell stands for several
// neighbouring ranks if there are too many to see.
struct RankCells {
  double left = 0;
  double top = 0;
  double width = 0;   // of a cell
  double height = 0;  // of a cell
  uint64_t rows = 0;  // of cells
  uint64_t columns = 0;
  uint64_t ranks_down = 1;    // in a cell
  uint64_t ranks_across = 1;  // in a cell
};
// The drawing is 1000 units wide.
RankCells CellsOf(const analysis::RankGrid& grid);

// Returns the fullest kind in a cell; -1 if none is known. Nothing if the cell has no rank.
std::optional<int32_t> KindInCell(const analysis::RankGrid& grid, const RankCells& cells,
                                  uint64_t row, uint64_t column);

// Visits the ranks of a cell.
template <typename Visit>
void ForEachRank(const analysis::RankGrid& grid, const RankCells& cells, uint64_t row,
                 uint64_t column, const Visit& visit) {
  const uint64_t end_row = std::min((row + 1) * cells.ranks_down, grid.rows.size);
  const uint64_t end_column = std::min((column + 1) * cells.ranks_across, grid.column_count());
  for (uint64_t down = row * cells.ranks_down; down < end_row; ++down)
    for (uint64_t across = column * cells.ranks_across; across < end_column; ++across)
      if (const std::optional<uint64_t> rank = grid.RankAt(down, across)) visit(*rank);
}

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_RANK_CELLS_H_
