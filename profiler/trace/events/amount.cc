// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/amount.h"

#include <charconv>
#include <utility>

namespace memtrace::trace {

std::optional<uint64_t> BytesOf(std::string_view text) {
  constexpr std::pair<std::string_view, unsigned> kUnits[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  unsigned shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!text.ends_with(unit)) continue;
    shift = bits;
    text.remove_suffix(unit.size());
    break;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number > ~uint64_t{0} >> shift) return std::nullopt;
  return number << shift;
}

}  // namespace memtrace::trace
