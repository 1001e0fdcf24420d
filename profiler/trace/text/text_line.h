// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_TEXT_TEXT_LINE_H_
#define MEMTRACE_PROFILER_TRACE_TEXT_TEXT_LINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// One parsed line of a text trace: words in order, and key=value in any order. Keeps the first
// error; reads after an error return zeros.
class TextLine {
 public:
  explicit TextLine(std::string_view line);

  bool empty() const { return words_.empty(); }
  // Returns the word at `index`; an error if there is none.
  std::string Word(size_t index);
  uint64_t Number(size_t index) { return ParseAmount(Word(index)); }
  int32_t Device(size_t index) { return static_cast<int32_t>(ParseAmount(Word(index))); }
  // Drops the first word, "@1500".
  void DropWord() { words_.erase(words_.begin()); }

  bool Has(std::string_view key) const { return values_.contains(key); }
  std::string Text(std::string_view key);                         // "" if it is missing
  uint64_t Amount(std::string_view key, uint64_t otherwise = 0);  // 512, 0x200, 5MiB
  std::vector<Frame> Stack(std::string_view key);

  uint64_t ParseAmount(std::string_view text);
  void SetError(const std::string& what);

  // Returns the error, which may be a key that nobody has read; empty if there is none.
  std::string error() const;

 private:
  std::string Token(std::string_view& rest, std::string_view stops);
  Frame ParseFrame(std::string_view text);

  std::vector<std::string> words_;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, bool, std::less<>> asked_;
  std::string error_;
};

// Returns the value in the form that TextLine reads: quoted if needed.
std::string QuoteText(std::string_view value);
std::string FormatStack(const std::vector<Frame>& frames);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_TEXT_TEXT_LINE_H_
