// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/moved/moved_rows.h"

namespace memtrace::report {

std::vector<analysis::MovedBytes> MovedRows(const analysis::Explanation& explanation,
                                            trace::MoveKind kind) {
  std::vector<analysis::MovedBytes> rows;
  for (const analysis::MovedBytes& moved : explanation.holders.moved) {
    if (moved.kind == kind && moved.device == explanation.card_of_verdict().index)
      rows.push_back(moved);
  }
  return rows;
}

uint64_t SumOf(const std::vector<analysis::MovedBytes>& rows) {
  uint64_t sum = 0;
  for (const analysis::MovedBytes& row : rows) sum += row.bytes;
  return sum;
}

}  // namespace memtrace::report
