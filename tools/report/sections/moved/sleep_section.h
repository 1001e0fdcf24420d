// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_

#include <cstdint>

#include "tools/analysis/explained/holders.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says which tags slept off card `card` (memtrace.sleep), how often and how much; empty if none
// did.
Section SleepSection(int32_t card, const analysis::ExplainedHolders& holders);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SLEEP_SECTION_H_
