// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_HOLDER_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_HOLDER_TABLE_H_

#include <string>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Role x site of what is held on the card of the verdict, largest first.
std::string HolderTable(const analysis::Explanation& explanation);

// A breakdown by role, by owner (if anything has one) and by site.
std::string ShareTables(const analysis::Breakdown& breakdown);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_HOLDER_TABLE_H_
