// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/memtrace_policy.h"

#include <variant>

#include "base/check.h"

namespace memtrace::replay {

MemtracePolicy::MemtracePolicy(Bytes card, Bytes rest)
    : vmm_({.capacity = card, .used_by_others = rest}, nullptr, &counted_),
      allocator_({}, vmm_, streams_, watch_) {}

std::optional<Placed> MemtracePolicy::Allocate(const Request& request) {
  const AllocationResult result =
      AllocateIn(request.pool, {.bytes = request.bytes, .stream = request.stream});
  const auto* address = std::get_if<DeviceAddress>(&result);
  if (address == nullptr) return std::nullopt;
  if (spare_numbers_.empty()) {
    spare_numbers_.push_back(static_cast<BlockNumber>(live_.size()));
    live_.emplace_back();
  }
  const BlockNumber number = spare_numbers_.back();
  spare_numbers_.pop_back();
  live_[number] = {*address, StreamId{}};
  return watch_.Place(number, *address);
}

// A pool is in use until the end, because a trace does not say when its last user goes.
AllocationResult MemtracePolicy::AllocateIn(uint32_t pool,
                                            const CachingAllocator::Request& request) {
  if (pool == 0) return allocator_.Allocate(request);
  const PoolId id{0, pool};
  if (pools_.insert(pool).second) allocator_.pools().Retain(id);
  MEMTRACE_CHECK(allocator_.pools().BeginRouting(id, [](StreamId) { return true; }).ok());
  AllocationResult result = allocator_.Allocate(request);
  MEMTRACE_CHECK(allocator_.pools().EndRouting(id).ok());
  return result;
}

void MemtracePolicy::Free(BlockNumber block) {
  MEMTRACE_CHECK(allocator_.Free(live_[block].address).ok());
  spare_numbers_.push_back(block);
}

void MemtracePolicy::RequestFree(BlockNumber block) {
  Live& live = live_[block];
  live.waits_for = streams_.Begin();
  MEMTRACE_CHECK(allocator_.RecordStream(live.address, live.waits_for).ok());
  MEMTRACE_CHECK(allocator_.Free(live.address).ok());
}

void MemtracePolicy::CompleteFree(BlockNumber block) {
  streams_.Finish(live_[block].waits_for);
  spare_numbers_.push_back(block);
}

void MemtracePolicy::EmptyCache() { MEMTRACE_CHECK(allocator_.EmptyCache().ok()); }

Bytes MemtracePolicy::peak_allocated() const {
  return static_cast<Bytes>(allocator_.accounts().statistics().allocated_bytes.all.peak);
}

Bytes MemtracePolicy::peak_reserved() const {
  return static_cast<Bytes>(allocator_.accounts().statistics().reserved_bytes.all.peak);
}

DriverCalls MemtracePolicy::calls() const {
  return {{"cuMemAddressReserve", counted_.calls(DriverCall::kReserve)},
          {"cuMemAddressFree", counted_.calls(DriverCall::kReleaseReservation)},
          {"cuMemCreate", counted_.calls(DriverCall::kCreate)},
          {"cuMemMap", counted_.calls(DriverCall::kMap)},
          {"cuMemSetAccess", counted_.calls(DriverCall::kGiveAccess)},
          {"cuMemUnmap", counted_.calls(DriverCall::kUnmap)},
          {"cuMemRelease", counted_.calls(DriverCall::kRelease)}};
}

Placed MemtracePolicy::Watch::Place(BlockNumber block, DeviceAddress address) const {
  for (size_t i = 0; i < segments_.size(); ++i) {
    const Bytes offset = address - segments_[i].address;
    if (offset < segments_[i].size) {
      return {block, address, static_cast<uint32_t>(i), offset, latest_};
    }
  }
  return {block, address, 0, 0, latest_};
}

}  // namespace memtrace::replay
