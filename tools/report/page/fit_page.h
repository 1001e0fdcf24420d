// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_FIT_PAGE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_FIT_PAGE_H_

#include <string>

#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Returns the answer as one HTML file, as Page() does for a trace, with a drawing of memory against
// time if a plan was looked for. `command` is the program that was asked about; any text.
std::string FitPage(const std::string& command, const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_FIT_PAGE_H_
