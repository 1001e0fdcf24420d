// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_

#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Lists remedies: the need with each, how that is known, and the line to change.
Section RemedySection(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_
