// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/cupti_names.h"

#include <algorithm>
#include <iterator>

namespace memtrace::card {
namespace {

std::uint32_t Find(std::span<const NumberedCall> calls, std::string_view function) {
  const auto later = std::upper_bound(
      calls.begin(), calls.end(), function,
      [](std::string_view wanted, const NumberedCall& call) { return wanted < call.function; });
  if (later == calls.begin() || std::prev(later)->function != function) return 0;
  return std::prev(later)->number;
}

bool IsOfCuda(std::string_view function) {
  return function.starts_with("cuda") || (function.starts_with("cu") && function.size() > 2 &&
                                          function[2] >= 'A' && function[2] <= 'Z');
}

}  // namespace

CallNumber NumberOf(std::string_view function) {
  if (!IsOfCuda(function)) return {true, Find(RuntimeCalls(), "cudaLaunchKernel")};
  const bool is_runtime = function.starts_with("cuda");
  return {is_runtime, Find(is_runtime ? RuntimeCalls() : DriverCalls(), function)};
}

const char* NameOf(bool is_runtime, std::uint32_t number) {
  for (const NumberedCall& call : is_runtime ? RuntimeCalls() : DriverCalls()) {
    if (call.number == number) return call.name;
  }
  return nullptr;
}

const char* NameOfResult(int result) {
  for (const NamedResult& named : Results()) {
    if (named.result == result) return named.name;
  }
  return nullptr;
}

}  // namespace memtrace::card
