// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/caching_allocator.h"

#include <utility>

#include "allocator/device_heap.h"
#include "allocator/mutex.h"

namespace memtrace {

class CachingAllocator::State {
 public:
  State(const Options& options, Vmm& vmm, StreamEvents& events, AllocationObserver& observer)
      : device(options.device), heap(options, vmm, events, observer) {}

  const DeviceIndex device;
  Mutex mutex;
  DeviceHeap heap ABSL_GUARDED_BY(mutex);
};

CachingAllocator::CachingAllocator(Options options, Vmm& vmm, StreamEvents& events,
                                   AllocationObserver& observer)
    : state_(std::make_unique<State>(options, vmm, events, observer)) {}

CachingAllocator::~CachingAllocator() = default;

AllocationResult CachingAllocator::Allocate(const Request& request) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Allocate(request);
}

absl::Status CachingAllocator::Free(DeviceAddress address) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Free(address);
}

absl::Status CachingAllocator::RecordStream(DeviceAddress address, StreamId stream) {
  const MutexLock lock(state_->mutex);
  return state_->heap.RecordStream(address, stream);
}

absl::Status CachingAllocator::EmptyCache(const PoolId& pool) {
  const MutexLock lock(state_->mutex);
  return state_->heap.EmptyCache(pool);
}

void CachingAllocator::RetainPool(const PoolId& pool) {
  const MutexLock lock(state_->mutex);
  state_->heap.RetainPool(pool);
}

absl::Status CachingAllocator::ReleasePool(const PoolId& pool) {
  const MutexLock lock(state_->mutex);
  return state_->heap.ReleasePool(pool);
}

absl::Status CachingAllocator::SetPoolSource(const PoolId& pool,
                                             std::shared_ptr<MemorySource> source) {
  const MutexLock lock(state_->mutex);
  return state_->heap.SetPoolSource(pool, std::move(source));
}

absl::Status CachingAllocator::SetPoolNoSplit(const PoolId& pool) {
  const MutexLock lock(state_->mutex);
  return state_->heap.SetPoolNoSplit(pool);
}

absl::Status CachingAllocator::SetPoolUseOnOom(const PoolId& pool, bool use) {
  const MutexLock lock(state_->mutex);
  return state_->heap.SetPoolUseOnOom(pool, use);
}

absl::StatusOr<int> CachingAllocator::PoolUses(const PoolId& pool) const {
  const MutexLock lock(state_->mutex);
  return state_->heap.PoolUses(pool);
}

absl::Status CachingAllocator::BeginRouting(const PoolId& pool, Pools::StreamFilter filter) {
  const MutexLock lock(state_->mutex);
  return state_->heap.BeginRouting(pool, std::move(filter));
}

absl::Status CachingAllocator::EndRouting(const PoolId& pool) {
  const MutexLock lock(state_->mutex);
  return state_->heap.EndRouting(pool);
}

absl::StatusOr<PoolCheckpoint> CachingAllocator::CheckpointPool(const PoolId& pool) const {
  const MutexLock lock(state_->mutex);
  return state_->heap.CheckpointPool(pool);
}

absl::StatusOr<PoolRestoration> CachingAllocator::RestorePool(const PoolCheckpoint& checkpoint) {
  const MutexLock lock(state_->mutex);
  return state_->heap.RestorePool(checkpoint);
}

void CachingAllocator::SetLimit(Bytes limit) {
  const MutexLock lock(state_->mutex);
  state_->heap.SetLimit(limit);
}

Statistics CachingAllocator::statistics() const {
  const MutexLock lock(state_->mutex);
  return state_->heap.accounting().statistics();
}

absl::btree_map<PoolId, StatisticByPool> CachingAllocator::pool_statistics() const {
  const MutexLock lock(state_->mutex);
  return state_->heap.accounting().pools();
}

void CachingAllocator::ResetPeakStatistics() {
  const MutexLock lock(state_->mutex);
  state_->heap.accounting().ResetPeak();
}

void CachingAllocator::ResetAccumulatedStatistics() {
  const MutexLock lock(state_->mutex);
  state_->heap.accounting().ResetAccumulated();
}

AllocatorLedger CachingAllocator::ledger() const {
  const MutexLock lock(state_->mutex);
  return state_->heap.ledger();
}

std::optional<CachingAllocator::Range> CachingAllocator::BaseAllocation(
    DeviceAddress address) const {
  const MutexLock lock(state_->mutex);
  return state_->heap.BaseAllocation(address);
}

std::vector<SegmentView> CachingAllocator::Snapshot() const {
  const MutexLock lock(state_->mutex);
  return state_->heap.Snapshot();
}

absl::StatusOr<std::vector<MappedChunk>> CachingAllocator::ChunksUnder(
    DeviceAddress address) const {
  const MutexLock lock(state_->mutex);
  return state_->heap.ChunksUnder(address);
}

absl::StatusOr<std::vector<CachingAllocator::SharedChunk>> CachingAllocator::Share(
    DeviceAddress address) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Share(address);
}

DeviceIndex CachingAllocator::device() const { return state_->device; }

absl::Status CachingAllocator::Admit(DeviceIndex peer) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Admit(peer);
}

void CachingAllocator::CheckInvariants() const {
  const MutexLock lock(state_->mutex);
  state_->heap.CheckInvariants();
}

}  // namespace memtrace
