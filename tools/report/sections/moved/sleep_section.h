// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_

#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says which tags slept off the card (memtrace.sleep), how often and how much; empty if none did.
Section SleepSection(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_
