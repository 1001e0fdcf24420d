// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_

#include "tools/analysis/replayed/outside_set.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Lists the memory that the process took from the driver outside its allocator, by kind and site;
// empty if there is none.
Section OutsideSection(const std::vector<analysis::OutsideHolding>& holdings);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_
