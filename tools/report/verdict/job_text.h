// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_JOB_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_JOB_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analysis/jobs/job.h"

namespace memtrace::report {

// Returns the number of processes whose traces cannot be read.
size_t UnreadableProcesses(const analysis::Job& job);

// Returns the words of a cause of a failure in a cell: "card full".
std::string CauseCell(trace::FailureCause cause);

// Says which processes ran out of memory, which is the fullest, and how unequal they are. What the
// traces do not say is left out.
std::string JobVerdict(const analysis::Job& job);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_JOB_TEXT_H_
