// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SUMMARY_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_SUMMARY_REPORT_H_

#include <cstddef>
#include <string>

#include "tools/analysis/views/run_summary.h"

namespace memtrace::report {

// Returns each card's ledger, and the holders of its memory now and at its peak, `most_rows` of
// each. `now_unix_ns` tells how old the summary is; 0 leaves that out.
std::string TextSummary(const analysis::RunSummary& summary, const std::string& title,
                        uint64_t now_unix_ns, size_t most_rows);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SUMMARY_REPORT_H_
