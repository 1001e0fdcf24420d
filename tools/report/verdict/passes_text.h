// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_PASSES_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_PASSES_TEXT_H_

#include <string>

#include "tools/analysis/explained/failure.h"
#include "tools/analysis/explained/holders.h"
#include "tools/analysis/explained/kept.h"

namespace memtrace::report {

// Says that losses of several passes wait for one backward; empty if they do not.
std::string SummedPassesSentence(const analysis::ExplainedKept& kept);

// Says that a model in eval mode keeps activations; empty if it does not, or few.
std::string EvalModeSentence(const analysis::ExplainedKept& kept,
                             const analysis::ExplainedHolders& holders);

// Returns "14.00 GiB of activations is kept for a backward pass through the call at train.py:14.
// ..."; empty unless such calls keep a tenth of the held bytes.
std::string UntrainedSentence(const analysis::ExplainedKept& kept,
                              const analysis::ExplainedHolders& holders);

// Returns "This batch is the largest so far: 8 examples of length 1,024. The largest before it was
// 8 examples of length 243."; empty if the call that failed was not larger than each before it.
std::string LargestCallSentence(const analysis::ExplainedFailure& failure);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_PASSES_TEXT_H_
