// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_

#include <string>

#include "tools/report/diff_document.h"

namespace memtrace::report {

// For a terminal.
std::string TextDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

// Schema memtrace.diff/1: every row that changed, whatever `style.rows` says.
std::string JsonDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_DIFF_REPORT_H_
