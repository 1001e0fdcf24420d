// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_MEMORY_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_MEMORY_H_

#include <map>

#include "allocator/accounts/allocation_observer.h"
#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/outside/observed_segments.h"

namespace memtrace {

// Sums up another allocator's memory on one card from its events and passes them on to a recorder.
// The events carry requested sizes; the bytes that a block occupies follow from the allocator's
// rounding (memtrace_observed) and from the places of its other blocks.
//
// Thread rule: any thread; events of one card come in their order.
class ObservedMemory {
 public:
  // kNothing: all reserved memory is in use, and no mapped segment is ever reported.
  enum class Caches { kSegments, kNothing };

  ObservedMemory(DeviceIndex device, AllocationObserver& recorder,
                 Caches caches = Caches::kSegments)
      : device_(device), caches_(caches), recorder_(recorder) {}

  void Note(const memtrace_observed& event);
  AllocatorLedger ledger() const;

  // Returns the ledger that the other allocator stated when it gave up; it is exact.
  AllocatorLedger LedgerOf(const memtrace_observed_out_of_memory& event) const;

 private:
  // All of these are called with the lock held.
  void NoteBlock(const memtrace_observed& event);
  void NoteRange(const memtrace_observed& event);
  void NoteGrowth(const RangeEvent& range);
  Bytes Occupied(const memtrace_observed& event);

  const DeviceIndex device_;
  const Caches caches_;
  AllocationObserver& recorder_;
  mutable Mutex mutex_;
  AllocatorLedger sums_;       // guarded by mutex_
  ObservedSegments segments_;  // likewise
  // Segments that grow, from their begin to the furthest end so far. Guarded by mutex_.
  std::map<DeviceAddress, DeviceAddress> growing_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_MEMORY_H_
