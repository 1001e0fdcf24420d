// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_

#include <cstddef>
#include <string>

#include "tools/analysis/jobs/job.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// The most rows of a job's sections.
struct JobRows {
  size_t causes = 0;  // of each difference
  size_t kinds = 0;
  bool is_narrow = false;  // KindSection
};
inline constexpr JobRows kAllJobRows = {.causes = 100, .kinds = 256, .is_narrow = false};

// Reports on the traces of a folder together: which failed first, which is the fullest, the kinds
// of ranks and why they differ.
Document JobSections(const std::string& folder, const analysis::Job& job, JobRows rows);

// Returns the same with as many rows as fit the 25 lines of a first screen, and at least a few.
Document JobScreen(const std::string& folder, const analysis::Job& job);

// Returns a row for each process. Without ranks, also the processes that are not like the others.
Document ProcessSections(const analysis::Job& job);

// Returns both, the screen first; with `all`, every kind and cause instead of what fits the screen.
Document ProcessesDocument(const std::string& folder, const analysis::Job& job, bool all = false);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_
