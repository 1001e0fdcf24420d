// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_MOVED_ROWS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_MOVED_ROWS_H_

#include <cstdint>
#include <vector>

#include "tools/analysis/explained/holders.h"

namespace memtrace::report {

// The most sentences about single moves in a section.
inline constexpr size_t kShownMoves = 3;

// Returns what moved in one way on card `card`, in the order of steps.
std::vector<analysis::MovedBytes> MovedRows(int32_t card, const analysis::ExplainedHolders& holders,
                                            trace::MoveKind kind);

uint64_t SumOf(const std::vector<analysis::MovedBytes>& rows);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_MOVED_ROWS_H_
