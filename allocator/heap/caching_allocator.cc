// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/caching_allocator.h"

#include <algorithm>

#include "absl/base/attributes.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/heap/snapshot.h"
#include "allocator/pools/quick_groups.h"
#include "base/check.h"
#include "base/spin_mutex.h"

namespace memtrace {

class CachingAllocator::State {
 public:
  State(const Options& options, Vmm& vmm, StreamEvents& events, AllocationObserver& told)
      : device(options.device),
        observer(told),
        lock(quick, heap),
        heap(options, vmm, events, told, quick),
        pools(lock, heap),
        accounts(lock, heap),
        sharing(lock, heap, vmm),
        movement(lock, heap, vmm, events, options) {}

  // These two are not inlined, so that the fast path, which nearly always succeeds, saves no
  // registers for them.
  ABSL_ATTRIBUTE_NOINLINE AllocationResult Allocate(const Request& request) {
    const CardLock::Holder all(lock);
    return heap.Allocate(request, RoundedSize(std::max(request.bytes, request.at_least)));
  }
  ABSL_ATTRIBUTE_NOINLINE absl::Status Free(DeviceAddress address) {
    const CardLock::Holder all(lock);
    return heap.Free(address);
  }

  const DeviceIndex device;
  const AllocationObserver& observer;
  CardLock lock;
  QuickGroups quick;
  DeviceHeap heap ABSL_GUARDED_BY(lock);
  PrivatePools pools;
  CardAccounts accounts;
  MemorySharing sharing;
  Movement movement;
};

CachingAllocator::CachingAllocator(const Options& options, Vmm& vmm, StreamEvents& events,
                                   AllocationObserver& observer)
    : state_(std::make_unique<State>(options, vmm, events, observer)) {}

CachingAllocator::~CachingAllocator() = default;

// Observers are told of every event under the card's lock, in the order of the events.
template <typename Try>
auto CachingAllocator::TryQuickly(Try attempt) {
  if (!state_->observer.observes_blocks()) return attempt(state_->quick);
  const SpinMutexLock lock(state_->lock.mutex());
  return attempt(state_->quick);
}

DeviceAddress CachingAllocator::TryAllocate(Bytes bytes, StreamId stream, ContextId context,
                                            Bytes at_least) {
  MEMTRACE_CHECK_GT(bytes, Bytes{0});
  const Bytes size = RoundedSize(std::max(bytes, at_least));
  return TryQuickly(
      [&](QuickGroups& groups) { return groups.TryAllocate(stream, size, bytes, context); });
}

AllocationResult CachingAllocator::Allocate(const Request& request) {
  if (request.at.is_null() && !request.is_not_free) {
    const DeviceAddress quick =
        TryAllocate(request.bytes, request.stream, request.context, request.at_least);
    if (!quick.is_null()) return quick;
  }
  return state_->Allocate(request);
}

absl::Status CachingAllocator::Free(DeviceAddress address) {
  if (TryQuickly([&](QuickGroups& groups) { return groups.TryFree(address); })) {
    return absl::OkStatus();
  }
  return state_->Free(address);
}

absl::Status CachingAllocator::RecordStream(DeviceAddress address, StreamId stream) {
  if (state_->quick.TryRecordStream(address, stream)) return absl::OkStatus();
  const CardLock::Holder lock(state_->lock);
  return state_->heap.RecordStream(address, stream);
}

absl::Status CachingAllocator::EmptyCache(const PoolId& pool) {
  const CardLock::Holder lock(state_->lock);
  return state_->heap.EmptyCache(pool);
}

void CachingAllocator::SetLimit(Bytes limit) {
  const CardLock::Holder lock(state_->lock);
  state_->heap.room().SetLimit(limit);
}

std::vector<SegmentView> CachingAllocator::Snapshot() const {
  const CardLock::Holder lock(state_->lock);
  state_->heap.groups().MergeRecent();
  return SnapshotOf(state_->heap.groups());
}

PrivatePools& CachingAllocator::pools() { return state_->pools; }

CardAccounts& CachingAllocator::accounts() { return state_->accounts; }

const CardAccounts& CachingAllocator::accounts() const { return state_->accounts; }

MemorySharing& CachingAllocator::sharing() { return state_->sharing; }

Movement& CachingAllocator::movement() { return state_->movement; }

DeviceIndex CachingAllocator::device() const { return state_->device; }

void CachingAllocator::CheckInvariants() const {
  const CardLock::Holder lock(state_->lock);
  state_->heap.CheckInvariants();
}

}  // namespace memtrace
