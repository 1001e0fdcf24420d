// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PROCESSES_JSON_H_
#define MEMTRACE_TOOLS_REPORT_PROCESSES_JSON_H_

#include <string>

#include "tools/analysis/jobs/job.h"

namespace memtrace::report {

// Returns the traces of a folder as JSON, schema memtrace.processes/1 (docs/reference/report.md).
std::string JsonProcesses(const std::string& folder, const analysis::Job& job);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PROCESSES_JSON_H_
