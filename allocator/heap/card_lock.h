// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_CARD_LOCK_H_
#define MEMTRACE_ALLOCATOR_HEAP_CARD_LOCK_H_

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/quick_groups.h"
#include "base/scoped_lock.h"
#include "base/spin_mutex.h"

namespace memtrace {

// The lock of a card and those of all its streams: whoever holds it has the whole heap for himself.
// QuickGroups serves blocks under the lock of one stream meanwhile; when the lock is given back it
// is told whether it may serve requests, too.
class ABSL_LOCKABLE CardLock {
 public:
  // Both must outlive this.
  CardLock(QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND,
           const DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : quick_(quick), heap_(heap) {}

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock() ABSL_UNLOCK_FUNCTION();

  // The card's own lock. It suffices to put events into the order in which they happen.
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
