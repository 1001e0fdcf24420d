// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounting.h"

namespace memtrace {
namespace {

int64_t Amount(Bytes bytes) { return static_cast<int64_t>(bytes); }

template <typename Act>
void ForEachStatistic(StatisticByPool& by_pool, Act act) {
  for (Statistic* one : {&by_pool.all, &by_pool.small_pool, &by_pool.large_pool}) act(*one);
}

template <typename Act>
void ForEachStatistic(Statistics& s, Act act) {
  for (StatisticByPool* by_pool :
       {&s.allocation, &s.segment, &s.active, &s.inactive_split, &s.allocated_bytes,
        &s.reserved_bytes, &s.active_bytes, &s.inactive_split_bytes, &s.requested_bytes}) {
    ForEachStatistic(*by_pool, act);
  }
}

}  // namespace

void Accounting::Allocated(const Block& block, const SegmentKey& key) {
  statistics_.allocation.Add(key.small, 1);
  statistics_.allocated_bytes.Add(key.small, Amount(block.size));
  statistics_.active.Add(key.small, 1);
  statistics_.active_bytes.Add(key.small, Amount(block.size));
  statistics_.requested_bytes.Add(key.small, Amount(block.requested));
  observer_.Allocated(EventOf(block, key));
}

void Accounting::FreeRequested(const Block& block, const SegmentKey& key) {
  statistics_.allocation.Add(key.small, -1);
  statistics_.allocated_bytes.Add(key.small, -Amount(block.size));
  observer_.FreeRequested(EventOf(block, key));
}

void Accounting::FreeCompleted(const Block& block, const SegmentKey& key) {
  statistics_.active.Add(key.small, -1);
  statistics_.active_bytes.Add(key.small, -Amount(block.size));
  statistics_.requested_bytes.Add(key.small, -Amount(block.requested));
  observer_.FreeCompleted(EventOf(block, key));
}

void Accounting::Reserved(const SegmentKey& key, DeviceAddress address, Bytes size) {
  observer_.Reserved(EventOf(key, address, size));
}

void Accounting::Mapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges) {
  ++statistics_.num_device_alloc;
  CountReserved(key, Amount(size), ranges);
  observer_.Mapped(EventOf(key, address, size));
}

void Accounting::Unmapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges) {
  ++statistics_.num_device_free;
  CountReserved(key, -Amount(size), ranges);
  observer_.Unmapped(EventOf(key, address, size));
}

void Accounting::CountReserved(const SegmentKey& key, int64_t bytes, int ranges) {
  statistics_.reserved_bytes.Add(key.small, bytes);
  statistics_.segment.Add(key.small, ranges);
  if (key.pool != PoolId{}) pools_[key.pool].Add(key.small, bytes);
}

void Accounting::OutOfMemory(const OutOfMemoryEvent& event) {
  ++statistics_.num_ooms;
  observer_.OutOfMemory(event);
}

void Accounting::ResetPeak() {
  const auto reset = [](Statistic& one) { one.ResetPeak(); };
  ForEachStatistic(statistics_, reset);
  for (auto& [pool, reserved] : pools_) ForEachStatistic(reserved, reset);
}

void Accounting::ResetAccumulated() {
  const auto reset = [](Statistic& one) { one.ResetAccumulated(); };
  ForEachStatistic(statistics_, reset);
  for (auto& [pool, reserved] : pools_) ForEachStatistic(reserved, reset);
  statistics_.num_alloc_retries = 0;
  statistics_.num_ooms = 0;
  statistics_.num_sync_all_streams = 0;
  statistics_.num_device_alloc = 0;
  statistics_.num_device_free = 0;
}

BlockEvent Accounting::EventOf(const Block& block, const SegmentKey& key) const {
  return {device_, key.stream, key.pool, block.address, block.requested, block.size, block.context};
}

RangeEvent Accounting::EventOf(const SegmentKey& key, DeviceAddress address, Bytes size) const {
  return {device_, key.stream, key.pool, address, size};
}

}  // namespace memtrace
