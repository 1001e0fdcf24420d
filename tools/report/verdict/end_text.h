// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_END_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_END_TEXT_H_

#include <string>

#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Says how a run ended that did not run out of memory: that it did not, that the program recovered
// from failed requests, that another process ran out, or which exception ended it. Of a trace that
// cannot be read in full it says only what the readable part has.
std::string EndSentence(const analysis::Explanation& explanation);

// Returns the same for a run that allocated nothing on a card.
std::string EndWithoutMemorySentence(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_END_TEXT_H_
