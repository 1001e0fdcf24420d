// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_SPOKEN_SENTENCE_H_
#define MEMTRACE_INTERPOSE_CORE_SPOKEN_SENTENCE_H_

#include <cstdio>
#include <string>

#include "profiler/trace/events/printable_text.h"

namespace memtrace {

// Prints a line on stderr: "memtrace: " and the sentence, without control characters.
inline void PrintSentence(const std::string& sentence) {
  std::fprintf(stderr, "memtrace: %s\n", trace::PrintableText(sentence).c_str());
}

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_SPOKEN_SENTENCE_H_
