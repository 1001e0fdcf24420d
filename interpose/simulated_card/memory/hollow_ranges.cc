// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/hollow_ranges.h"

#include <algorithm>
#include <iterator>

namespace memtrace::card {

void HollowRanges::Add(Address begin, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  Address end = begin + bytes;
  const auto next = ends_.find(end);
  if (next != ends_.end()) {
    end = next->second;
    ends_.erase(next);
  }
  const auto after = ends_.upper_bound(begin);
  if (after != ends_.begin() && std::prev(after)->second == begin) {
    std::prev(after)->second = end;
  } else {
    ends_.emplace_hint(after, begin, end);
  }
  count_ = ends_.size();
}

void HollowRanges::Remove(Address begin, std::uint64_t bytes) {
  if (!AreAny()) return;
  const MutexLock lock(mutex_);
  const Address end = begin + bytes;
  auto range = ends_.upper_bound(begin);
  if (range != ends_.begin() && std::prev(range)->second > begin) --range;
  while (range != ends_.end() && range->first < end) {
    const auto [first, last] = *range;
    range = ends_.erase(range);
    if (first < begin) ends_.emplace(first, begin);
    if (last > end) ends_.emplace(end, last);
  }
  count_ = ends_.size();
}

std::optional<Address> HollowRanges::FirstIn(Address begin, std::uint64_t bytes) const {
  if (!AreAny()) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto after = ends_.upper_bound(begin);
  if (after != ends_.begin() && std::prev(after)->second > begin) return begin;
  if (after == ends_.end() || after->first >= begin + bytes) return std::nullopt;
  return after->first;
}

}  // namespace memtrace::card
