// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_

#include <string>

#include "tools/report/diff_document.h"

namespace memtrace::report {

// Returns the comparison for a terminal.
std::string TextDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

// Returns JSON, schema memtrace.diff/1, with every row that changed, whatever `style.rows` says.
std::string JsonDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
