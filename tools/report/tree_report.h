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
  bool flat = false;              // one row for each combination, largest first, instead of a tree
  size_t rows = 40;               // at most so many; 0 is all
};

// Requested bytes in use at the moment that was explained.
std::string TextTree(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style);

// Schema memtrace.tree/1: every row, whatever `style.rows` says.
std::string JsonTree(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_TREE_REPORT_H_
