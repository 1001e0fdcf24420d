// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_BATCHES_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_BATCHES_H_

#include <string>
#include <string_view>
#include <vector>

namespace memtrace::fit {

// Parses the annotation fit.batches: returns what the run says about the largest batches of its
// DataLoaders, in whole sentences. Returns none if the text is malformed.
std::vector<std::string> BatchSentencesOf(std::string_view text);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_BATCHES_H_
