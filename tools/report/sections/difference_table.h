// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_DIFFERENCE_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_DIFFERENCE_TABLE_H_

#include <cstddef>

#include "tools/analysis/jobs/job.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns WHY RANKS DIFFER: for each comparison of the job the difference and its largest causes,
// at most `most` of them; the printed figures of the causes add up to it. Empty without
// comparisons.
Section DifferenceSection(const analysis::Job& job, size_t most);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_DIFFERENCE_TABLE_H_
