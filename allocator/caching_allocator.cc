// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/caching_allocator.h"

#include "allocator/device_heap.h"
#include "allocator/mutex.h"

namespace memtrace {

class CachingAllocator::State {
 public:
  State(const Options& options, Vmm& vmm, StreamEvents& events, AllocationObserver& observer)
      : heap(options, vmm, events, observer) {}

  Mutex mutex;
  DeviceHeap heap ABSL_GUARDED_BY(mutex);
};

CachingAllocator::CachingAllocator(Options options, Vmm& vmm, StreamEvents& events,
                                   AllocationObserver& observer)
    : state_(std::make_unique<State>(options, vmm, events, observer)) {}

CachingAllocator::~CachingAllocator() = default;

AllocationResult CachingAllocator::Allocate(Bytes bytes, StreamId stream, uint64_t context) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Allocate(bytes, stream, context);
}

absl::Status CachingAllocator::Free(DeviceAddress address) {
  const MutexLock lock(state_->mutex);
  return state_->heap.Free(address);
}

absl::Status CachingAllocator::RecordStream(DeviceAddress address, StreamId stream) {
  const MutexLock lock(state_->mutex);
  return state_->heap.RecordStream(address, stream);
}

absl::Status CachingAllocator::EmptyCache() {
  const MutexLock lock(state_->mutex);
  return state_->heap.EmptyCache();
}

void CachingAllocator::SetLimit(Bytes limit) {
  const MutexLock lock(state_->mutex);
  state_->heap.SetLimit(limit);
}

Statistics CachingAllocator::statistics() const {
  const MutexLock lock(state_->mutex);
  return state_->heap.accounting().statistics();
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

void CachingAllocator::CheckInvariants() const {
  const MutexLock lock(state_->mutex);
  state_->heap.CheckInvariants();
}

}  // namespace memtrace
