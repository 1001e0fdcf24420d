// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PRIVATE_POOLS_H_
#define MEMTRACE_ALLOCATOR_HEAP_PRIVATE_POOLS_H_

#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/memory_source.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/pool_checkpoint.h"
#include "allocator/pools/pools.h"
#include "base/units.h"

namespace memtrace {

// The functions that programs call on the private pools of a card. A pool exists from its first
// Retain() until it has neither users nor memory; the other calls fail with kNotFound if it does
// not.
//
// Thread rule: any thread; it takes the card's lock.
class PrivatePools {
 public:
  // Both must outlive this.
  PrivatePools(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
               DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : lock_(lock), heap_(heap) {}

  // Adds a user to a pool, or removes one.
  void Retain(const PoolId& pool);
  absl::Status Release(const PoolId& pool);
  // Returns the number of users.
  absl::StatusOr<int> Uses(const PoolId& pool) const;

  // Takes the pool's memory from `source` from now on. kFailedPrecondition if it already has
  // memory.
  absl::Status SetSource(const PoolId& pool, std::shared_ptr<MemorySource> source);
  // Gives each block of the pool a segment of its own from now on.
  absl::Status SetNoSplit(const PoolId& pool);
  // Sets whether free memory of the pool may serve requests of the default pool that would fail
  // otherwise.
  absl::Status SetUseOnOom(const PoolId& pool, bool use);

  // Serves the requests for which `filter` is true from the pool until EndRouting(). kAlreadyExists
  // if requests are already routed to it. The filter is called under the lock: it must not call the
  // allocator.
  absl::Status BeginRouting(const PoolId& pool, Pools::StreamFilter filter);
  absl::Status EndRouting(const PoolId& pool);

  // Sets whether blocks of a routed pool that other streams of a capture have used may be reused
  // within it, as soon as its graph shows that all those uses come before. Otherwise they are free
  // only after the capture. Applies to blocks freed from now on.
  void SetCaptureReuse(bool reuse);

  // Returns which blocks of the pool are in use.
  absl::StatusOr<PoolCheckpoint> Checkpoint(const PoolId& pool) const;
  // Frees every block of the pool and takes those of the checkpoint again. kFailedPrecondition,
  // with no side effect, if the pool no longer has their memory.
  absl::StatusOr<PoolRestoration> Restore(const PoolCheckpoint& checkpoint);

 private:
  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PRIVATE_POOLS_H_
