// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/run_facts.h"
#include "tools/report/tree_level.h"

namespace memtrace::report {

// One side of a comparison.
struct DiffSide {
  const analysis::Explanation& explanation;
  const analysis::RunFacts& run;
};

struct DiffStyle {
  std::vector<TreeLevel> levels;  // at least one
  size_t rows = 30;               // at most so many; 0 is all
};

// What changed from one moment to another, of one run or two: requested bytes in use, by the
// levels, largest change first.
std::string TextDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

// Schema memtrace.diff/1: every row that changed, whatever `style.rows` says.
std::string JsonDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
