// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/block_check.h"

#include <iterator>

namespace memtrace::bench {

const char* BlockCheck::Took(void* address, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = begin + bytes;
  if (begin % kAlignment != 0) return "misaligned";
  const auto next = ends_.lower_bound(begin);
  if (next != ends_.end() && next->first < end) return "overlapping";
  if (next != ends_.begin() && std::prev(next)->second > begin) return "overlapping";
  if (!card_.IsOnCard(begin) || !card_.IsOnCard(end - 1)) return "not_on_card";
  ends_.emplace_hint(next, begin, end);
  return "";
}

}  // namespace memtrace::bench
