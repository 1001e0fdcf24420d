// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/storage_places.h"

#include <charconv>
#include <optional>
#include <string>

#include "absl/strings/str_split.h"

namespace memtrace::analysis {
namespace {

template <typename Number>
bool IsWhole(const std::string& text, int base, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && rest == end;
}

std::optional<StoragePlace> ParsePlace(const std::string& text) {
  const size_t colon = text.find(':');
  StoragePlace place;
  if (colon == std::string::npos || !IsWhole(text.substr(0, colon), 10, place.first) ||
      !IsWhole(text.substr(colon + 1), 16, place.second))
    return std::nullopt;
  return place;
}

}  // namespace

std::vector<StoragePlace> ParseStoragePlaces(std::string_view text) {
  std::vector<StoragePlace> places;
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
  for (const std::string& part : parts)
    if (const auto place = ParsePlace(part)) places.push_back(*place);
  return places;
}

}  // namespace memtrace::analysis
