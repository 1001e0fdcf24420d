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

// What another allocator holds on one card, summed up from its events, which are passed on to a
// recorder. Its events carry sizes as asked for; what a block occupies follows from how it rounds
// (memtrace_observed) and from where its other blocks lie.
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
  // Under the lock, all of these.
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
  // Segments that grow, begin to end, as far as they ever grew. Likewise.
  std::map<DeviceAddress, DeviceAddress> growing_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_MEMORY_H_
