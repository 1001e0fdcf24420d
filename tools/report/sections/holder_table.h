// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_TABLE_H_

#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Lists role and site of the memory held on the card of the verdict, largest first.
Section HolderSection(const analysis::Explanation& explanation);

// Returns a breakdown by role, by owner (if any has one) and by site.
std::vector<Part> ShareTables(const analysis::Breakdown& breakdown);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_TABLE_H_
