// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_

#include <string>
#include <vector>

#include "tools/analysis/process_view.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Reports on the traces of a folder side by side: which failed first, which differs from the
// others, and a row for each. `views` are in order of rank.
Document ProcessesDocument(const std::string& folder,
                           const std::vector<analysis::ProcessView>& views);

// Returns JSON, schema memtrace.processes/1.
std::string JsonProcesses(const std::string& folder,
                          const std::vector<analysis::ProcessView>& views);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PROCESSES_REPORT_H_
