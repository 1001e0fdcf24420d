// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/mapping_account.h"

namespace memtrace {

void MappingAccount::Reserved(const SegmentKey& key, DeviceAddress address, Bytes size) {
  observer_.Reserved(EventOf(key, address, size));
}

void MappingAccount::Mapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges) {
  ++growths_;
  Count(key, static_cast<int64_t>(size), ranges);
  observer_.Mapped(EventOf(key, address, size));
}

void MappingAccount::Unmapped(const SegmentKey& key, DeviceAddress address, Bytes size,
                              int ranges) {
  ++unmapped_ranges_;
  Count(key, -static_cast<int64_t>(size), ranges);
  observer_.Unmapped(EventOf(key, address, size));
}

void MappingAccount::Count(const SegmentKey& key, int64_t bytes, int ranges) {
  bytes_.Add(key.small, bytes);
  ranges_.Add(key.small, ranges);
  if (key.pool != PoolId{}) by_pool_[key.pool].Add(key.small, bytes);
}

void MappingAccount::PutInto(Statistics& all) const {
  all.reserved_bytes = bytes_;
  all.segment = ranges_;
  all.num_device_alloc = growths_;
  all.num_device_free = unmapped_ranges_;
}

void MappingAccount::ResetPeak() {
  bytes_.ResetPeak();
  ranges_.ResetPeak();
  for (auto& [pool, bytes] : by_pool_) bytes.ResetPeak();
}

void MappingAccount::ResetAccumulated() {
  bytes_.ResetAccumulated();
  ranges_.ResetAccumulated();
  for (auto& [pool, bytes] : by_pool_) bytes.ResetAccumulated();
  growths_ = unmapped_ranges_ = 0;
}

RangeEvent MappingAccount::EventOf(const SegmentKey& key, DeviceAddress address, Bytes size) const {
  return {device_, key.stream, key.pool, address, size};
}

}  // namespace memtrace
