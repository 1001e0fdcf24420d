// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_MAPPING_ACCOUNT_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_MAPPING_ACCOUNT_H_

#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"
#include "allocator/blocks/segment_key.h"
#include "base/units.h"

namespace memtrace {

// Counts the mapped memory of a card, by pool, and tells the observer of each range that is
// reserved, mapped or unmapped, in one place, so that the two cannot disagree.
//
// Errors: none. Thread rule: guarded by the card's lock.
class MappingAccount {
 public:
  // `observer` must outlive this.
  MappingAccount(DeviceIndex device, AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : device_(device), observer_(observer) {}

  void Reserved(const SegmentKey& key, DeviceAddress address, Bytes size);
  // `ranges` is the change in the number of maximal mapped ranges.
  void Mapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges);
  void Unmapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges);

  // These count the host's memory behind addresses of the card, which is not counted as the card's.
  void MappedOnHost(Bytes size) { on_host_ += size; }
  void ReplacedOnHost(Bytes size) { on_host_ -= size; }  // by the card's memory
  void UnmappedOnHost(const SegmentKey& key, Bytes size, int ranges) {
    on_host_ -= size;
    Count(key, 0, ranges);
  }

  // Returns the bytes of the card that are currently mapped.
  Bytes reserved() const { return static_cast<Bytes>(bytes_.all.current); }
  // Returns the bytes of the host that are mapped at addresses of the card.
  Bytes on_host() const { return on_host_; }
  // Returns the bytes mapped for each private pool that has ever existed.
  const absl::btree_map<PoolId, StatisticByPool>& by_pool() const { return by_pool_; }

  // Sets the fields of `all` that count mapped memory.
  void PutInto(Statistics& all) const;
  void ResetPeak();
  void ResetAccumulated();

 private:
  void Count(const SegmentKey& key, int64_t bytes, int ranges);
  RangeEvent EventOf(const SegmentKey& key, DeviceAddress address, Bytes size) const;

  const DeviceIndex device_;
  AllocationObserver& observer_;
  StatisticByPool bytes_;
  StatisticByPool ranges_;  // maximal ones
  absl::btree_map<PoolId, StatisticByPool> by_pool_;
  Bytes on_host_ = 0;
  int64_t growths_ = 0;
  int64_t unmapped_ranges_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_MAPPING_ACCOUNT_H_
