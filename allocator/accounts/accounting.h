// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"
#include "allocator/accounts/usage.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "base/units.h"

namespace memtrace {

// Counts what happens and tells the observer, in one place, so that the two cannot disagree. The
// keys have torch's meaning: `allocation` and `allocated_bytes` fall when a free is requested,
// `active`, `active_bytes` and `requested_bytes` when it completes; `num_device_alloc` counts
// growths and `num_device_free` unmapped ranges; `inactive_split` stays 0, as torch leaves it for
// expandable segments. `segment` counts maximal mapped ranges (what Snapshot() lists); torch leaves
// it at 0.
//
// Thread rule: the card's lock and those of all streams guard it, but for what says otherwise.
class Accounting {
 public:
  // `observer` must outlive this.
  Accounting(DeviceIndex device, AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : device_(device), observer_(observer) {}

  // Counts what a stream has in use from now on; `share` outlives this.
  void Add(UsageShare& share) { usage_.Add(share); }

  // The two that need the lock of the block's stream alone. REQUIRES: share.HasRoomFor the block.
  void Allocated(const Block& block, const SegmentKey& key, UsageShare& share) {
    share.Allocated(key.small, AmountsOf(block.size, block.requested));
    if (observer_.hears_of_blocks()) observer_.Allocated(EventOf(block, key));
  }
  // FreeRequested and FreeCompleted in one.
  void Freed(const Block& block, const SegmentKey& key, UsageShare& share) {
    share.Freed(key.small, AmountsOf(block.size, block.requested));
    if (observer_.hears_of_blocks()) observer_.Freed(EventOf(block, key));
  }

  void MakeRoom(UsageShare& share, bool small, const Amounts& more) {
    usage_.MakeRoom(share, small, more);
  }
  void FreeRequested(const Block& block, const SegmentKey& key, UsageShare& share);
  void FreeCompleted(const Block& block, const SegmentKey& key);

  void Reserved(const SegmentKey& key, DeviceAddress address, Bytes size);
  // `ranges`: by how much the number of maximal mapped ranges changed.
  void Mapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges);
  void Unmapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges);

  // For requests that fail and will be repeated, whose attempts count once.
  struct Attempts {
    int64_t retries = 0;
    int64_t waits = 0;
  };
  Attempts attempts() const {
    return {statistics_.num_alloc_retries, statistics_.num_sync_all_streams};
  }
  void ForgetSince(const Attempts& since) {
    statistics_.num_alloc_retries = since.retries;
    statistics_.num_sync_all_streams = since.waits;
  }

  void Retried() { ++statistics_.num_alloc_retries; }
  void WaitedForAllStreams() { ++statistics_.num_sync_all_streams; }
  void OutOfMemory(const OutOfMemoryEvent& event);

  void ResetPeak();
  void ResetAccumulated();
  Statistics statistics() const;
  const Usage& usage() const { return usage_; }
  // Bytes mapped for each private pool there ever was.
  const absl::btree_map<PoolId, StatisticByPool>& pools() const { return pools_; }
  Bytes reserved() const { return static_cast<Bytes>(statistics_.reserved_bytes.all.current); }

 private:
  BlockEvent EventOf(const Block& block, const SegmentKey& key) const {
    return {device_,         key.stream, key.pool,     block.address,
            block.requested, block.size, block.context};
  }
  void CountReserved(const SegmentKey& key, int64_t bytes, int ranges);
  RangeEvent EventOf(const SegmentKey& key, DeviceAddress address, Bytes size) const;

  const DeviceIndex device_;
  AllocationObserver& observer_;
  Usage usage_;
  Statistics statistics_;  // all others
  absl::btree_map<PoolId, StatisticByPool> pools_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_
