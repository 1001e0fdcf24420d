// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
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

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOLLOW_RANGES_H_
