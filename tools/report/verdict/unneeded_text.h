// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_UNNEEDED_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_UNNEEDED_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns sentences about memory that the program held but no longer
// needed when a request failed. They come before the cause, because they are the answer to any.
std::string UnneededSentences(const analysis::Explanation& explanation);

// Returns "'edited' still holds the value of step 1 (14.19 GiB, edit.py:19) while step 2 makes its
// own."; empty unless a name holds an earlier value of at least 1 % of the held
// bytes.
std::string EarlierValueSentence(const analysis::Explanation& explanation);

// Returns "'output' holds 3.91 GiB (train.py:15), which nothing reads again."; empty unless names
// hold at least 5 % of the held bytes, other than earlier values.
std::string UnreadSentence(const analysis::Explanation& explanation);

// Returns "The list 'preds' (evaluate, test.py) keeps 6.25 GiB of results of earlier passes.";
// empty unless they are at least a tenth of the held bytes and growth does not say it.
std::string ResultsSentence(const analysis::Explanation& explanation);

// Says how often the collector ran for a request that would have failed; empty if it did not.
std::string CollectionsSentence(const analysis::Explanation& explanation);

// Adds the members "unread_names", "failed_attempts" and "dead_cycles" if they were found.
void AddUnneeded(const analysis::Explanation& explanation, nlohmann::ordered_json& report);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_UNNEEDED_TEXT_H_
