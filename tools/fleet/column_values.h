// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FLEET_COLUMN_VALUES_H_
#define MEMTRACE_TOOLS_FLEET_COLUMN_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"

namespace memtrace::fleet {

// The values of a row as JSON, by column. A value that is not known is left out. Counts above 2^63
// - 1, which only damage can make, become 2^63 - 1: the columns have 64 bits with a sign.
class ColumnValues {
 public:
  void Text(const char* column, const std::string& value);  // empty: not known
  void Number(const char* column, uint64_t value);
  void Number(const char* column, std::optional<uint64_t> value);
  // Takes a decimal number; anything else is not known.
  void ParsedNumber(const char* column, const std::string& text);
  void Signed(const char* column, int64_t value);
  void Truth(const char* column, bool value);
  void Seconds(const char* column, uint64_t nanoseconds);
  // Writes "2026-11-28 06:52:55.123456", which is UTC. 0: not known.
  void Moment(const char* column, uint64_t unix_ns);
  void List(const char* column, nlohmann::ordered_json values);

  // Returns one line of JSON without its end; bytes that are not UTF-8 become U+FFFD.
  std::string Line() const;

 private:
  nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
};

// Returns a count as a column holds it.
int64_t ColumnCount(uint64_t count);

// Returns the sum, or the largest number if it is larger.
uint64_t CappedSum(uint64_t a, uint64_t b);

}  // namespace memtrace::fleet

#endif  // MEMTRACE_TOOLS_FLEET_COLUMN_VALUES_H_
