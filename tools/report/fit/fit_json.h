// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FIT_JSON_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FIT_JSON_H_

#include <string>

#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Returns JSON, schema memtrace.fit/1; bytes are integers.
std::string JsonFit(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FIT_JSON_H_
