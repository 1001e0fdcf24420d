// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_JOB_PAGE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_JOB_PAGE_H_

#include <string>
#include <vector>

#include "tools/analysis/jobs/job.h"

namespace memtrace::report {

// Returns the report on the traces of a folder as one HTML file, as Page() does for one trace, with
// a drawing of all ranks of the job. `pages` has, by process, the name of the file beside this one
// that is the page of its trace; empty: none.
std::string JobPage(const std::string& folder, const analysis::Job& job,
                    const std::vector<std::string>& pages);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_JOB_PAGE_H_
