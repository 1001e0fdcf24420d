// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/diff_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace memtrace::report {
namespace {

using analysis::AttributedBytes;
using RowsByValues = std::map<std::vector<std::string>, ChangedRow>;

void Add(const std::vector<AttributedBytes>& parts, const std::vector<TreeLevel>& levels,
         ValueOfLevel value_of, uint64_t ChangedRow::*bytes, uint64_t ChangedRow::*blocks,
         RowsByValues& rows) {
  for (const AttributedBytes& part : parts) {
    std::vector<std::string> values;
    values.reserve(levels.size());
    for (const TreeLevel level : levels) values.push_back(value_of(part, level));
    ChangedRow& row = rows[values];
    row.values = std::move(values);
    row.*bytes += part.bytes;
    row.*blocks += part.blocks;
  }
}

}  // namespace

std::vector<ChangedRow> ChangedRows(const std::vector<AttributedBytes>& before,
                                    const std::vector<AttributedBytes>& after,
                                    const std::vector<TreeLevel>& levels, ValueOfLevel value_of) {
  RowsByValues by_values;
  Add(before, levels, value_of, &ChangedRow::before, &ChangedRow::blocks_before, by_values);
  Add(after, levels, value_of, &ChangedRow::after, &ChangedRow::blocks_after, by_values);
  std::vector<ChangedRow> rows;
  for (const auto& [values, row] : by_values) {
    if (row.before != row.after || row.blocks_before != row.blocks_after) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ChangedRow& a, const ChangedRow& b) { return a.size() > b.size(); });
  return rows;
}

}  // namespace memtrace::report
