// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/moved/moved_rows.h"

namespace memtrace::report {

std::vector<analysis::MovedBytes> MovedRows(int32_t card, const analysis::ExplainedHolders& holders,
                                            trace::MoveKind kind) {
  std::vector<analysis::MovedBytes> rows;
  for (const analysis::MovedBytes& moved : holders.moved) {
    if (moved.kind == kind && moved.device == card) rows.push_back(moved);
  }
  return rows;
}

uint64_t SumOf(const std::vector<analysis::MovedBytes>& rows) {
  uint64_t sum = 0;
  for (const analysis::MovedBytes& row : rows) sum += row.bytes;
  return sum;
}

}  // namespace memtrace::report
