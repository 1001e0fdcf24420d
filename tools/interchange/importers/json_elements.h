// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_JSON_ELEMENTS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_JSON_ELEMENTS_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace memtrace::interchange {

// Cuts JSON into its values without looking into them. Large data is then parsed piece by piece, so
// that a file of any size, or one cut short, costs no more memory than a piece of it. Nothing
// recurses. Text between quotes and brackets is checked by the parser of the piece.
class JsonElements {
 public:
  explicit JsonElements(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  // Skips blanks; returns the next byte, or 0 at the end.
  char Peek();
  // Takes the next byte if it is this one.
  bool Take(char c);
  // Returns the next whole value, quotes and brackets included; nothing if there is none or it does
  // not end.
  std::optional<std::string_view> Value();

  size_t at() const { return at_; }  // bytes taken so far

 private:
  bool SkipString();

  std::string_view text_;
  size_t at_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_JSON_ELEMENTS_H_
