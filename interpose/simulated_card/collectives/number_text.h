// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NUMBER_TEXT_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NUMBER_TEXT_H_

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace memtrace::card {

// Takes a number from the beginning of the text. Returns nothing, and takes nothing, if there is
// none or it is negative.
inline std::optional<int> TakeNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NUMBER_TEXT_H_
