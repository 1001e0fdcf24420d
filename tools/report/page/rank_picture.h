// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_

#include <cstdint>
#include <optional>
#include <string>

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
RankCells CellsOf(const analysis::RankGrid& grid);

// Returns the fullest kind in a cell; -1 if none is known. Nothing if the cell has no rank.
std::optional<int32_t> KindInCell(const analysis::RankGrid& grid, const RankCells& cells,
                                  uint64_t row, uint64_t column);

// Returns the words of a dimension with "$0" for the place's number: "pipeline stage $0 of 8".
std::string AxisWords(const analysis::RankGrid& grid, const analysis::JobDimension& dimension);

// Draws the ranks of a job as SVG without a script: each cell has the color of the share of the
// card that its kind used, kinds are outlined, and ranks that were not started are hatched. Runs of
// cells that look the same are one element, so that 16384 ranks need few.
std::string DrawRanks(const analysis::Job& job, const analysis::RankGrid& grid);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_
