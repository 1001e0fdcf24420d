// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Says what the step that failed would still have requested, by each source that knows it. The
// explanation must have a failed request.
std::vector<std::string> NeedSentences(const analysis::Explanation& explanation);

// Says that the next step does not fit although this one did; otherwise empty.
std::string NextStepSentence(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_
