// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_ranges.h"

namespace memtrace::card {

// Reserved addresses that had memory, which was taken away: of an owner that sleeps, for example.
// Addresses that never had memory are not hollow.
//
// Safe from any thread; while there are none, a question costs one load.
class HollowRanges {
 public:
  HollowRanges() = default;
  HollowRanges(const HollowRanges&) = delete;
  HollowRanges& operator=(const HollowRanges&) = delete;

  bool AreAny() const { return count_.load(std::memory_order_relaxed) > 0; }

  // The range loses its memory. REQUIRES: no part of it is hollow.
  void Add(Address begin, std::uint64_t bytes);
  // The range has memory again, or is no longer reserved; parts of it may be hollow.
  void Remove(Address begin, std::uint64_t bytes);

  // Returns the first hollow address in [begin, begin + bytes), if there is one.
  std::optional<Address> FirstIn(Address begin, std::uint64_t bytes) const;

 private:
  mutable Mutex mutex_;
  // The end of each range by its begin. Ranges that touch are one.
  std::map<Address, Address> ends_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::size_t> count_ = 0;  // of ends_, set under the lock
};

inline void HollowRanges::Add(Address begin, std::uint64_t bytes) {
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

inline void HollowRanges::Remove(Address begin, std::uint64_t bytes) {
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

inline std::optional<Address> HollowRanges::FirstIn(Address begin, std::uint64_t bytes) const {
  if (!AreAny()) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto after = ends_.upper_bound(begin);
  if (after != ends_.begin() && std::prev(after)->second > begin) return begin;
  if (after == ends_.end() || after->first >= begin + bytes) return std::nullopt;
  return after->first;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_
