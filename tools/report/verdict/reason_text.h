// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_REASON_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_REASON_TEXT_H_

#include <string>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/failure.h"

namespace memtrace::report {

// Says which request failed, when and where: "OUT OF MEMORY in step 1, optimizer.step(), at
// train.py:20. The request for 306.7 MiB failed; ...". There must be a failed request.
std::string FailureSentence(const analysis::CardExplanation& card,
                            const analysis::ExplainedFailure& failure);

// Says why it failed, by the cause of the verdict; one or two sentences. There must be a failed
// request.
std::string ReasonSentence(const analysis::CardExplanation& card,
                           const analysis::ExplainedFailure& failure);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_REASON_TEXT_H_
