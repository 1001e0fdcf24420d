// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_RANK_DATA_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_RANK_DATA_H_

#include <string>
#include <vector>

#include "tools/analysis/jobs/rank_grid.h"

namespace memtrace::report {

// Returns the data by which the page's script says what a cell of DrawRanks() is, as JSON
// (docs/reference/page.md, "A job of many ranks"). `pages` has, by process, the file name of its
// own page beside this one; empty: none.
std::string RankData(const analysis::Job& job, const analysis::RankGrid& grid,
                     const std::vector<std::string>& pages);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_RANK_DATA_H_
