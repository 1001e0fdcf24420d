// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_

#include <string>

#include "tools/analysis/jobs/rank_grid.h"

namespace memtrace::report {

// Returns the words of a dimension with "$0" for the place's number: "pipeline stage $0 of 8".
std::string AxisWords(const analysis::RankGrid& grid, const analysis::JobDimension& dimension);

// Draws the ranks of a job as SVG without a script: each cell has the color of the share of the
// card that its kind used, kinds are outlined, and ranks that were not started are hatched. Runs of
// cells that look the same are one element, so that 16384 ranks need few.
std::string DrawRanks(const analysis::Job& job, const analysis::RankGrid& grid);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_RANK_PICTURE_H_
