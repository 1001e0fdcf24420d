// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/planned_failures.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "interpose/simulated_card/spec/card_spec.h"
#include "interpose/simulated_card/spec/error_texts.h"

namespace memtrace::card {
namespace {

constexpr std::string_view kOther = "other:";
constexpr int kLargestError = 999;  // CUDA_ERROR_UNKNOWN

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseError(std::string_view text, int* error) {
  if (ParseNumber(text, error)) return *error > 0 && *error <= kLargestError;
  for (const ErrorText& known : kErrorTexts) {
    if (text != known.driver_name && text != known.runtime_name && text != known.text) continue;
    *error = static_cast<int>(known.result);
    return *error != 0;
  }
  return false;
}

// Parses by the grammar of --card, which explains an invalid size.
bool ParseOther(std::string_view size, std::uint64_t* bytes, std::string* error) {
  std::vector<CardSpec> cards;
  if (!ParseCardSpecs("1024GiB,context=0MiB,other=" + std::string(size), &cards, error))
    return false;
  *bytes = cards.front().other_bytes;
  return true;
}

bool ParseOne(std::string_view text, PlannedFailure* planned, std::string* error) {
  const std::size_t at = text.find('@');
  const std::size_t equals = text.find('=');
  const std::string quoted = "'" + std::string(text) + "'";
  if (at == 0 || at == std::string_view::npos || equals == std::string_view::npos || equals < at) {
    *error = quoted + " is not a planned failure; write FUNCTION@N=ERROR, such as cuMemCreate@3=2";
    return false;
  }
  planned->function = text.substr(0, at);
  std::string_view nth = text.substr(at + 1, equals - at - 1);
  planned->for_ever = nth.ends_with('+');
  if (planned->for_ever) nth.remove_suffix(1);
  if (!ParseNumber(nth, &planned->nth) || planned->nth == 0) {
    *error =
        quoted + ": '" + std::string(nth) + "' is not the number of a call; calls count from 1";
    return false;
  }
  const std::string_view what = text.substr(equals + 1);
  if (what.starts_with(kOther))
    return ParseOther(what.substr(kOther.size()), &planned->other_bytes, error);
  if (ParseError(what, &planned->error)) return true;
  *error = quoted + ": '" + std::string(what) +
           "' is not a CUDA error that the card knows; write its name, such as "
           "cudaErrorMemoryAllocation, its number, or other:SIZE";
  return false;
}

}  // namespace

bool PlannedFailure::Names(std::string_view called) const {
  std::string_view left = function;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find('|'));
    if (one == called) return true;
    left.remove_prefix(std::min(left.size(), one.size() + 1));
  }
  return false;
}

bool ParsePlannedFailures(std::string_view text, std::vector<PlannedFailure>* plan,
                          std::string* error) {
  std::vector<PlannedFailure> parsed;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.empty()) continue;
    if (!ParseOne(one, &parsed.emplace_back(), error)) return false;
  }
  *plan = std::move(parsed);
  return true;
}

}  // namespace memtrace::card
