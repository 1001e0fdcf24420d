// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_TREE_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_TREE_REPORT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/sections/tree_level.h"

namespace memtrace::report {

struct TreeStyle {
  std::vector<TreeLevel> levels;  // at least one
  bool flat = false;              // one row for each combination, largest first, not a tree
  size_t rows = 40;               // the most rows; 0 is all
};

// Returns "by role, site", the title of a table of such rows.
std::string LevelsTitle(const std::vector<TreeLevel>& levels);

// Reports the requested bytes in use at the explained moment.
std::string TextTree(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style);

// Returns JSON, schema memtrace.tree/1, with every row, whatever `style.rows` says.
std::string JsonTree(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_TREE_REPORT_H_
