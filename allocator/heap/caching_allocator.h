// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_
#define MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "allocator/heap/heap_options.h"
#include "allocator/heap/request.h"
#include "allocator/heap/views.h"
#include "allocator/plan/plan.h"
#include "allocator/plan/planned_memory.h"
#include "allocator/pools/pool_checkpoint.h"
#include "allocator/pools/pools.h"
#include "base/units.h"

namespace memtrace {

// Caching allocator of one card over expandable segments: a segment is a reservation of address
// space per (stream, pool, small or large); physical chunks are mapped as it grows, and whole free
// chunks can be taken back and mapped where a request needs them. An error only when the card is
// really full (or a limit says so).
//
// Guarantees: blocks never overlap; memory freed on a stream is reused on that stream in stream
// order, and on another stream only after an event; a failed driver call leaves the state as before
// it. Thread rule: every method may be called from any thread; one lock a card. Observers are
// called under it.
class CachingAllocator {
 public:
  using Options = HeapOptions;
  using Request = AllocationRequest;
  using Range = BlockRange;
  using SharedChunk = memtrace::SharedChunk;

  // `vmm`, `events` and `observer` must outlive the allocator.
  CachingAllocator(const Options& options, Vmm& vmm, StreamEvents& events,
                   AllocationObserver& observer);
  ~CachingAllocator();

  AllocationResult Allocate(const Request& request);
  AllocationResult Allocate(Bytes bytes, StreamId stream, uint64_t context) {
    return Allocate({.bytes = bytes, .stream = stream, .context = context});
  }

  // The first part of it: what lies free on the stream, if that serves. 0 if not, and then nothing
  // has happened.
  DeviceAddress TryAllocate(Bytes bytes, StreamId stream, uint64_t context, Bytes at_least = 0);

  // kNotFound if `address` is not the start of a block in use. Nothing the driver does makes it
  // fail.
  absl::Status Free(DeviceAddress address);

  // Defers reuse of the block, once freed, until what is queued on `stream` at that moment is done.
  absl::Status RecordStream(DeviceAddress address, StreamId stream);

  // Gives every whole free chunk back to the driver, waiting for the streams that used it: of all
  // pools without users ({0, 0}), or of one.
  absl::Status EmptyCache(const PoolId& pool = {});

  void SetLimit(Bytes limit);

  // Private pools. A pool exists from its first RetainPool() until it has neither users nor memory;
  // the calls after it need it to exist (kNotFound).
  void RetainPool(const PoolId& pool);
  absl::Status ReleasePool(const PoolId& pool);
  // Its memory comes from `source` from now on. kFailedPrecondition if it has some already.
  absl::Status SetPoolSource(const PoolId& pool, std::shared_ptr<MemorySource> source);
  // From now on each of its blocks has a segment of its own.
  absl::Status SetPoolNoSplit(const PoolId& pool);
  // Whether what lies free in it may serve requests of the default pool that fail otherwise.
  absl::Status SetPoolUseOnOom(const PoolId& pool, bool use);
  absl::StatusOr<int> PoolUses(const PoolId& pool) const;

  // Requests that `filter` takes come from the pool until EndRouting(). kAlreadyExists if it is
  // routed to already. The filter is asked under the lock: it must not call the allocator.
  absl::Status BeginRouting(const PoolId& pool, Pools::StreamFilter filter);
  absl::Status EndRouting(const PoolId& pool);

  // Whether a routed pool's blocks that other streams of a capture have used may be used again
  // within it, as soon as its graph says that all those uses come before. Without, they are free
  // after the capture. Holds for blocks freed from now on.
  void SetCaptureReuse(bool reuse);

  absl::StatusOr<PoolCheckpoint> CheckpointPool(const PoolId& pool) const;
  // Frees every block of the pool and takes those of the checkpoint again. kFailedPrecondition, and
  // nothing has happened, if the pool no longer has their memory.
  absl::StatusOr<PoolRestoration> RestorePool(const PoolCheckpoint& checkpoint);

  Statistics statistics() const;
  // Bytes mapped for each private pool there ever was.
  absl::btree_map<PoolId, StatisticByPool> pool_statistics() const;
  void ResetPeakStatistics();
  void ResetAccumulatedStatistics();
  AllocatorLedger ledger() const;
  // All 0 without a plan.
  PlanUse plan_use() const;

  // Of the block that contains `address`.
  std::optional<Range> BaseAllocation(DeviceAddress address) const;
  std::vector<SegmentView> Snapshot() const;

  // The chunks under the block in use that contains `address`, ascending. kNotFound.
  absl::StatusOr<std::vector<MappedChunk>> ChunksUnder(DeviceAddress address) const;

  // The same, each with a descriptor by which another process can map it. kUnimplemented if they
  // are a pool's own memory.
  absl::StatusOr<std::vector<SharedChunk>> Share(DeviceAddress address);

  DeviceIndex device() const;

  // From now on another card may read and write all of this one's memory (peer access).
  absl::Status Admit(DeviceIndex peer);

  // Aborts with both values if the structures contradict each other. For tests and fuzzers.
  void CheckInvariants() const;

 private:
  class State;
  class Exclusive;
  template <typename Try>
  auto TryQuickly(Try attempt);

  std::unique_ptr<State> state_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_
