// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/caching_allocator.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/quick_groups.h"
#include "base/check.h"
#include "base/spin_mutex.h"

namespace memtrace {

class CachingAllocator::State {
 public:
  State(const Options& options, Vmm& vmm, StreamEvents& events, AllocationObserver& told)
      : device(options.device), observer(told), heap(options, vmm, events, told, quick) {}

  const DeviceIndex device;
  const AllocationObserver& observer;
  SpinMutex mutex;
  QuickGroups quick;
  DeviceHeap heap ABSL_GUARDED_BY(mutex);
};

// The card's lock and those of all streams.
class ABSL_SCOPED_LOCKABLE CachingAllocator::Exclusive {
 public:
  explicit Exclusive(State& state) ABSL_EXCLUSIVE_LOCK_FUNCTION(state.mutex) : state_(state) {
    state_.mutex.Lock();
    state_.quick.LockAll();
  }
  ~Exclusive() ABSL_UNLOCK_FUNCTION() {
    state_.quick.UnlockAll(state_.heap.is_quiet());
    state_.mutex.Unlock();
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  State& state_;
};

CachingAllocator::CachingAllocator(const Options& options, Vmm& vmm, StreamEvents& events,
                                   AllocationObserver& observer)
    : state_(std::make_unique<State>(options, vmm, events, observer)) {}

CachingAllocator::~CachingAllocator() = default;

// Observers hear of everything under the card's lock, in the order in which it happens.
template <typename Try>
auto CachingAllocator::TryQuickly(Try attempt) {
  if (!state_->observer.hears_of_blocks()) return attempt(state_->quick);
  const SpinMutexLock lock(state_->mutex);
  return attempt(state_->quick);
}

DeviceAddress CachingAllocator::TryAllocate(Bytes bytes, StreamId stream, uint64_t context,
                                            Bytes at_least) {
  MEMTRACE_CHECK_GT(bytes, Bytes{0});
  const Bytes size = RoundedSize(std::max(bytes, at_least));
  return TryQuickly(
      [&](QuickGroups& groups) { return groups.TryAllocate(stream, size, bytes, context); });
}

AllocationResult CachingAllocator::Allocate(const Request& request) {
  if (request.at == 0 && !request.is_not_free) {
    const DeviceAddress quick =
        TryAllocate(request.bytes, request.stream, request.context, request.at_least);
    if (quick != 0) return quick;
  }
  const Exclusive lock(*state_);
  return state_->heap.Allocate(request, RoundedSize(std::max(request.bytes, request.at_least)));
}

absl::Status CachingAllocator::Free(DeviceAddress address) {
  if (TryQuickly([&](QuickGroups& groups) { return groups.TryFree(address); })) {
    return absl::OkStatus();
  }
  const Exclusive lock(*state_);
  return state_->heap.Free(address);
}

absl::Status CachingAllocator::RecordStream(DeviceAddress address, StreamId stream) {
  if (state_->quick.TryRecordStream(address, stream)) return absl::OkStatus();
  const Exclusive lock(*state_);
  return state_->heap.RecordStream(address, stream);
}

absl::Status CachingAllocator::EmptyCache(const PoolId& pool) {
  const Exclusive lock(*state_);
  return state_->heap.EmptyCache(pool);
}

void CachingAllocator::RetainPool(const PoolId& pool) {
  const Exclusive lock(*state_);
  state_->heap.RetainPool(pool);
}

absl::Status CachingAllocator::ReleasePool(const PoolId& pool) {
  const Exclusive lock(*state_);
  return state_->heap.ReleasePool(pool);
}

absl::Status CachingAllocator::SetPoolSource(const PoolId& pool,
                                             std::shared_ptr<MemorySource> source) {
  const Exclusive lock(*state_);
  return state_->heap.SetPoolSource(pool, std::move(source));
}

absl::Status CachingAllocator::SetPoolNoSplit(const PoolId& pool) {
  const Exclusive lock(*state_);
  return state_->heap.SetPoolNoSplit(pool);
}

absl::Status CachingAllocator::SetPoolUseOnOom(const PoolId& pool, bool use) {
  const Exclusive lock(*state_);
  return state_->heap.SetPoolUseOnOom(pool, use);
}

absl::StatusOr<int> CachingAllocator::PoolUses(const PoolId& pool) const {
  const Exclusive lock(*state_);
  return state_->heap.PoolUses(pool);
}

absl::Status CachingAllocator::BeginRouting(const PoolId& pool, Pools::StreamFilter filter) {
  const Exclusive lock(*state_);
  return state_->heap.BeginRouting(pool, std::move(filter));
}

absl::Status CachingAllocator::EndRouting(const PoolId& pool) {
  const Exclusive lock(*state_);
  return state_->heap.EndRouting(pool);
}

void CachingAllocator::SetCaptureReuse(bool reuse) {
  const Exclusive lock(*state_);
  state_->heap.SetCaptureReuse(reuse);
}

absl::StatusOr<PoolCheckpoint> CachingAllocator::CheckpointPool(const PoolId& pool) const {
  const Exclusive lock(*state_);
  return state_->heap.CheckpointPool(pool);
}

absl::StatusOr<PoolRestoration> CachingAllocator::RestorePool(const PoolCheckpoint& checkpoint) {
  const Exclusive lock(*state_);
  return state_->heap.RestorePool(checkpoint);
}

void CachingAllocator::SetLimit(Bytes limit) {
  const Exclusive lock(*state_);
  state_->heap.SetLimit(limit);
}

Statistics CachingAllocator::statistics() const {
  const Exclusive lock(*state_);
  return state_->heap.accounting().statistics();
}

absl::btree_map<PoolId, StatisticByPool> CachingAllocator::pool_statistics() const {
  const Exclusive lock(*state_);
  return state_->heap.accounting().pools();
}

void CachingAllocator::ResetPeakStatistics() {
  const Exclusive lock(*state_);
  state_->heap.accounting().ResetPeak();
}

void CachingAllocator::ResetAccumulatedStatistics() {
  const Exclusive lock(*state_);
  state_->heap.accounting().ResetAccumulated();
}

AllocatorLedger CachingAllocator::ledger() const {
  const Exclusive lock(*state_);
  return state_->heap.ledger();
}

PlanUse CachingAllocator::plan_use() const {
  const Exclusive lock(*state_);
  return state_->heap.plan_use();
}

std::optional<CachingAllocator::Range> CachingAllocator::BaseAllocation(
    DeviceAddress address) const {
  const Exclusive lock(*state_);
  return state_->heap.BaseAllocation(address);
}

std::vector<SegmentView> CachingAllocator::Snapshot() const {
  const Exclusive lock(*state_);
  return state_->heap.Snapshot();
}

absl::StatusOr<std::vector<MappedChunk>> CachingAllocator::ChunksUnder(
    DeviceAddress address) const {
  const Exclusive lock(*state_);
  return state_->heap.ChunksUnder(address);
}

absl::StatusOr<std::vector<CachingAllocator::SharedChunk>> CachingAllocator::Share(
    DeviceAddress address) {
  const Exclusive lock(*state_);
  return state_->heap.Share(address);
}

DeviceIndex CachingAllocator::device() const { return state_->device; }

absl::Status CachingAllocator::Admit(DeviceIndex peer) {
  const Exclusive lock(*state_);
  return state_->heap.Admit(peer);
}

void CachingAllocator::CheckInvariants() const {
  const Exclusive lock(*state_);
  state_->heap.CheckInvariants();
}

}  // namespace memtrace
