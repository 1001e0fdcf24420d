// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_PRINTABLE_TEXT_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_PRINTABLE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace::trace {

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;
};

// Returns the code point that begins at `at`; nothing if the bytes there are not strict UTF-8,
// without overlong forms and surrogates. REQUIRES: at < text.size().
std::optional<CodePoint> DecodeUtf8(std::string_view text, size_t at);

// Returns text from a program or a trace, made safe for a terminal: control characters, bytes that
// are not UTF-8, and characters that change the writing direction become \x1b or \u202e.
std::string PrintableText(std::string_view text);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_PRINTABLE_TEXT_H_
