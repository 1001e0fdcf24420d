// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_UNNEEDED_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_UNNEEDED_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"

namespace memtrace::report {

// Returns sentences, each with a blank behind it, about what the program held and no longer needed
// when a request failed. They come before the cause, because they are the answer to any.
std::string UnneededSentences(const analysis::Explanation& explanation);

// Returns "The value of step 1 (14.19 GiB, edit.py:19) still lives while step 2 makes its own:
// 'edited' holds it."; empty unless a name holds an earlier value, of a hundredth of what is held
// or more.
std::string EarlierValueSentence(const analysis::Explanation& explanation);

// Returns "'output' holds 3.91 GiB (train.py:15) that nothing reads again."; empty unless a name
// holds, other than an earlier value, a twentieth of what is held or more.
std::string UnreadSentence(const analysis::Explanation& explanation);

// Returns how often the collector was called for a request that would have failed; empty if it was
// not.
std::string CollectionsSentence(const analysis::Explanation& explanation);

// Adds members for what was found: "unread_names", "failed_attempts", "dead_cycles".
void AddUnneeded(const analysis::Explanation& explanation, nlohmann::ordered_json& report);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_UNNEEDED_TEXT_H_
