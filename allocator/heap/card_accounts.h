// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_CARD_ACCOUNTS_H_
#define MEMTRACE_ALLOCATOR_HEAP_CARD_ACCOUNTS_H_

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/plan/planned_memory.h"
#include "base/units.h"

namespace memtrace {

// The figures of a card's memory use, in bytes or events. Each answer describes the card at one
// moment.
//
// Thread rule: any thread; it takes the card's lock.
class CardAccounts {
 public:
  // Both must outlive this.
  CardAccounts(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
               DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : lock_(lock), heap_(heap) {}

  // Names and meanings are those of torch.cuda.memory_stats().
  Statistics statistics() const;
  // Returns the bytes mapped for each private pool that has ever existed.
  absl::btree_map<PoolId, StatisticByPool> by_pool() const;
  // Sets peaks to the current values, and accumulated figures to 0.
  void ResetPeak();
  void ResetAccumulated();

  // Counts and reports the failure of a request that may have been repeated (may_be_repeated).
  void ReportOutOfMemory(const OutOfMemoryEvent& event);

  // Returns how the mapped memory is used. Merges recently freed blocks.
  AllocatorLedger ledger() const;

  // Returns how many requests were served where the plan says; all are 0 without a plan.
  PlanUse plan_use() const;

 private:
  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_CARD_ACCOUNTS_H_
