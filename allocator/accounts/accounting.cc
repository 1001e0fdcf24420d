// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/accounting.h"

namespace memtrace {
namespace {

template <typename Act>
void ForEachStatistic(StatisticByPool& by_pool, Act act) {
  for (Statistic* one : {&by_pool.all, &by_pool.small_pool, &by_pool.large_pool}) act(*one);
}

template <typename Act>
void ForEachStatistic(Statistics& s, Act act) {
  for (StatisticByPool* by_pool :
       {&s.segment, &s.inactive_split, &s.reserved_bytes, &s.inactive_split_bytes}) {
    ForEachStatistic(*by_pool, act);
  }
}

}  // namespace

void Accounting::FreeRequested(const Block& block, const SegmentKey& key, UsageShare& share) {
  usage_.Waits(share, key.small, AmountsOf(block.size, block.requested));
  if (observer_.hears_of_blocks()) observer_.FreeRequested(EventOf(block, key));
}

void Accounting::FreeCompleted(const Block& block, const SegmentKey& key) {
  usage_.Waited(key.small, AmountsOf(block.size, block.requested));
  if (observer_.hears_of_blocks()) observer_.FreeCompleted(EventOf(block, key));
}

Statistics Accounting::statistics() const {
  Statistics all = statistics_;
  all.allocation = usage_.InUseByPool(kBlocks);
  all.active = usage_.ActiveByPool(kBlocks);
  all.allocated_bytes = usage_.InUseByPool(kBytes);
  all.active_bytes = usage_.ActiveByPool(kBytes);
  all.requested_bytes = usage_.ActiveByPool(kRequested);
  return all;
}

void Accounting::Reserved(const SegmentKey& key, DeviceAddress address, Bytes size) {
  observer_.Reserved(EventOf(key, address, size));
}

void Accounting::Mapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges) {
  ++statistics_.num_device_alloc;
  CountReserved(key, static_cast<int64_t>(size), ranges);
  observer_.Mapped(EventOf(key, address, size));
}

void Accounting::Unmapped(const SegmentKey& key, DeviceAddress address, Bytes size, int ranges) {
  ++statistics_.num_device_free;
  CountReserved(key, -static_cast<int64_t>(size), ranges);
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
  usage_.ResetPeak();
  for (auto& [pool, reserved] : pools_) ForEachStatistic(reserved, reset);
}

void Accounting::ResetAccumulated() {
  const auto reset = [](Statistic& one) { one.ResetAccumulated(); };
  ForEachStatistic(statistics_, reset);
  usage_.ResetAccumulated();
  for (auto& [pool, reserved] : pools_) ForEachStatistic(reserved, reset);
  statistics_.num_alloc_retries = 0;
  statistics_.num_ooms = 0;
  statistics_.num_sync_all_streams = 0;
  statistics_.num_device_alloc = 0;
  statistics_.num_device_free = 0;
}

RangeEvent Accounting::EventOf(const SegmentKey& key, DeviceAddress address, Bytes size) const {
  return {device_, key.stream, key.pool, address, size};
}

}  // namespace memtrace
