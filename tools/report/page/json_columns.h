// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_JSON_COLUMNS_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_JSON_COLUMNS_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace memtrace::report {

// Writes long columns of numbers as JSON text; nlohmann's values would take 16 bytes for each
// number.
class JsonColumns {
 public:
  // Adds "name":[...] with `value(row)` for each row.
  template <typename Rows, typename Value>
  void Add(std::string_view name, const Rows& rows, const Value& value) {
    Begin(name);
    for (const auto& row : rows) Put(static_cast<int64_t>(value(row)));
    text_ += ']';
  }

  // The same as differences from the value before, the first from 0. Columns that grow evenly
  // become small numbers, which deflate well.
  template <typename Rows, typename Value>
  void AddDeltas(std::string_view name, const Rows& rows, const Value& value) {
    uint64_t before = 0;
    Add(name, rows, [&](const auto& row) {
      const uint64_t now = value(row);
      const auto delta = static_cast<int64_t>(now - before);
      before = now;
      return delta;
    });
  }

  std::string Object() const { return "{" + text_ + "}"; }

 private:
  void Begin(std::string_view name) {
    if (!text_.empty()) text_ += ',';
    text_ += '"';
    text_ += name;
    text_ += "\":[";
  }
  void Put(int64_t value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    if (text_.back() != '[') text_ += ',';
    text_.append(digits.data(), end);
  }

  std::string text_;
};

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_JSON_COLUMNS_H_
