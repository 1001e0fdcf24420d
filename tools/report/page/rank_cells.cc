// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/rank_cells.h"

namespace memtrace::report {
namespace {

using analysis::RankGrid;

// The sizes of the drawing in units.
constexpr double kRight = 999;
constexpr double kLeft = 130;  // the names of the rows
constexpr double kTop = 18;    // the names of the columns
constexpr double kMostHeight = 420;
constexpr double kTallestCell = 28;
// The most cells in each direction: more would be smaller than a pointer can hit.
constexpr uint64_t kMostRows = 70;
constexpr uint64_t kMostColumns = 200;

uint64_t CeilOf(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

}  // namespace

RankCells CellsOf(const RankGrid& grid) {
  RankCells cells;
  const uint64_t columns = grid.column_count();
  cells.ranks_down = CeilOf(grid.rows.size, kMostRows);
  cells.ranks_across = CeilOf(columns, kMostColumns);
  cells.rows = CeilOf(grid.rows.size, cells.ranks_down);
  cells.columns = CeilOf(columns, cells.ranks_across);
  cells.left = kLeft;
  cells.top = kTop;
  cells.width = (kRight - kLeft) / static_cast<double>(cells.columns);
  cells.height = std::min(kTallestCell, kMostHeight / static_cast<double>(cells.rows));
  return cells;
}

std::optional<int32_t> KindInCell(const RankGrid& grid, const RankCells& cells, uint64_t row,
                                  uint64_t column) {
  std::optional<int32_t> fullest;
  ForEachRank(grid, cells, row, column, [&](uint64_t rank) {
    const int32_t kind = grid.kinds[rank];
    if (!fullest || *fullest < 0 || (kind >= 0 && kind < *fullest)) fullest = kind;
  });
  return fullest;
}

}  // namespace memtrace::report
