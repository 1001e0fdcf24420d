// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_DIFF_ROWS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_DIFF_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/holders/attribution.h"
#include "tools/report/sections/tree_level.h"

namespace memtrace::report {

// The change of all bytes that have the same values of the levels.
struct ChangedRow {
  std::vector<std::string> values;  // one for each level
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t blocks_before = 0;
  uint64_t blocks_after = 0;

  int64_t change() const { return static_cast<int64_t>(after - before); }
  uint64_t size() const { return after > before ? after - before : before - after; }
};

// Returns the rows that changed, in bytes or blocks, the largest change first. `value_of` is
// LevelValue for JSON and LevelWords for people.
std::vector<ChangedRow> ChangedRows(const std::vector<analysis::AttributedBytes>& before,
                                    const std::vector<analysis::AttributedBytes>& after,
                                    const std::vector<TreeLevel>& levels,
                                    ValueOfLevel value_of = LevelValue);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_DIFF_ROWS_H_
