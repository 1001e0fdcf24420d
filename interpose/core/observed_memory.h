// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OBSERVED_MEMORY_H_
#define MEMTRACE_INTERPOSE_CORE_OBSERVED_MEMORY_H_

#include <mutex>

#include "allocator/allocation_observer.h"
#include "interpose/core/memtrace.h"

namespace memtrace {

// What another allocator holds on one card, summed up from its events, which are passed on to a
// recorder. Its events carry sizes as asked for; what a block occupies is inferred by torch's
// rounding to 512 bytes, so tails that it did not split off count as cached.
//
// Thread rule: any thread; events of one card come in their order.
class ObservedMemory {
 public:
  // kNothing: what is in use is all that is reserved, and no segment is ever said to be mapped.
  enum class Caches { kSegments, kNothing };

  ObservedMemory(DeviceIndex device, AllocationObserver& recorder,
                 Caches caches = Caches::kSegments)
      : device_(device), caches_(caches), recorder_(recorder) {}

  void Note(const memtrace_observed& event);
  AllocatorLedger ledger() const;

  // The ledger in the other allocator's own words, exact: it said them when it gave up.
  AllocatorLedger LedgerOf(const memtrace_observed_out_of_memory& event) const;

 private:
  const DeviceIndex device_;
  const Caches caches_;
  AllocationObserver& recorder_;
  mutable std::mutex mutex_;
  AllocatorLedger sums_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OBSERVED_MEMORY_H_
