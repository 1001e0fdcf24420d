// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_CARD_LOCK_H_
#define MEMTRACE_ALLOCATOR_HEAP_CARD_LOCK_H_

#include <chrono>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/quick_groups.h"
#include "base/scoped_lock.h"
#include "base/spin_mutex.h"

namespace memtrace {

// The lock of a card together with those of all its streams: its holder has exclusive use of the
// whole heap. While nobody holds it, QuickGroups serves blocks under the lock of one stream; Unlock
// tells QuickGroups whether it may also serve requests.
class ABSL_LOCKABLE CardLock {
 public:
  // Both must outlive this.
  CardLock(QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND,
           const DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : quick_(quick), heap_(heap) {}

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  // Returns false if other threads have held the lock all the time until the limit.
  bool TryLockFor(std::chrono::milliseconds limit) ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true);
  void Unlock() ABSL_UNLOCK_FUNCTION();

  // Returns the card's own lock. It alone suffices to put events into order.
  SpinMutex& mutex() { return mutex_; }

  // Holds the lock while it lives.
  using Holder = ScopedLock<CardLock>;

 private:
  SpinMutex mutex_;
  QuickGroups& quick_;
  const DeviceHeap& heap_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_CARD_LOCK_H_
