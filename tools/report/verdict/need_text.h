// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/cures.h"
#include "tools/analysis/explained/failure.h"

namespace memtrace::report {

// Says what the step that failed would still have requested, by each source that knows it. There
// must be a failed request.
std::vector<std::string> NeedSentences(const analysis::CardExplanation& card,
                                       const analysis::ExplainedFailure& failure,
                                       const analysis::ExplainedCures& cures);

// Says that the next step does not fit although this one did; otherwise empty.
std::string NextStepSentence(const analysis::CardExplanation& card,
                             const analysis::ExplainedCures& cures);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_NEED_TEXT_H_
