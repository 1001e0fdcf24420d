// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/column_values.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"

namespace memtrace::fleet {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::string UtcText(uint64_t unix_ns) {
  const auto seconds = static_cast<time_t>(unix_ns / kSecond);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &utc);
  constexpr uint64_t kMicroseconds = 1'000'000;  // in a second; the digit in front keeps the zeros
  const std::string digits = std::to_string(kMicroseconds + unix_ns % kSecond / 1000).substr(1);
  return std::string(text.data(), length) + "." + digits;
}

}  // namespace

int64_t ColumnCount(uint64_t count) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

uint64_t CappedSum(uint64_t a, uint64_t b) {
  return a + std::min(b, std::numeric_limits<uint64_t>::max() - a);
}

void ColumnValues::Text(const char* column, const std::string& value) {
  if (!value.empty()) values_[column] = value;
}

void ColumnValues::Number(const char* column, uint64_t value) {
  values_[column] = ColumnCount(value);
}

void ColumnValues::Number(const char* column, std::optional<uint64_t> value) {
  if (value) Number(column, *value);
}

void ColumnValues::ParsedNumber(const char* column, const std::string& text) {
  uint64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) Number(column, value);
}

void ColumnValues::Signed(const char* column, int64_t value) { values_[column] = value; }

void ColumnValues::Truth(const char* column, bool value) { values_[column] = value; }

void ColumnValues::Seconds(const char* column, uint64_t nanoseconds) {
  values_[column] = static_cast<double>(nanoseconds) / static_cast<double>(kSecond);
}

void ColumnValues::Moment(const char* column, uint64_t unix_ns) {
  if (unix_ns != 0) values_[column] = UtcText(unix_ns);
}

void ColumnValues::List(const char* column, nlohmann::ordered_json values) {
  values_[column] = std::move(values);
}

std::string ColumnValues::Line() const {
  return values_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace memtrace::fleet
