// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_FUZZ_CHECKED_TEXT_H_
#define MEMTRACE_TESTS_FUZZ_CHECKED_TEXT_H_

#include <algorithm>
#include <string>

#include "base/check.h"
#include "tools/report/words/printable.h"

namespace memtrace::fuzz {

// Checks that a text from a trace contains no control characters for a terminal.
inline void CheckText(const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    MEMTRACE_CHECK(report::Printable(line) == line);
    begin = end + 1;
  }
}

}  // namespace memtrace::fuzz

#endif  // MEMTRACE_TESTS_FUZZ_CHECKED_TEXT_H_
