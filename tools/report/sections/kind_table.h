// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_KIND_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_KIND_TABLE_H_

#include <cstddef>

#include "tools/analysis/jobs/job.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns KINDS OF RANKS: a row for each kind, the fullest first, at most `most` of them. Empty if
// the processes have no ranks. `is_narrow` leaves out columns, so that 80 are enough.
Section KindSection(const analysis::Job& job, size_t most, bool is_narrow);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_KIND_TABLE_H_
