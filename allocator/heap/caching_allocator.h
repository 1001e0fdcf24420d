// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_
#define MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "allocator/heap/card_accounts.h"
#include "allocator/heap/memory_sharing.h"
#include "allocator/heap/movement.h"
#include "allocator/heap/parts/heap_options.h"
#include "allocator/heap/parts/request.h"
#include "allocator/heap/parts/views.h"
#include "allocator/heap/private_pools.h"
#include "base/units.h"

namespace memtrace {

// Caching allocator of one card over expandable segments: a segment is a reservation of address
// space per (stream, pool, small or large); physical chunks are mapped as it grows, and chunks that
// are entirely free can be taken back and mapped where a request needs them. A request fails only
// if the card is really full, or a limit is reached.
//
// Guarantees: blocks never overlap; memory freed on a stream is reused on that stream in stream
// order, and on another stream only after an event; a failed driver call leaves the state as before
// it. Thread rule: every method may be called from any thread; each card has one lock. Observers
// are called under it.
class CachingAllocator {
 public:
  using Options = HeapOptions;
  using Request = AllocationRequest;

  // `vmm`, `events` and `observer` must outlive the allocator.
  CachingAllocator(const Options& options, Vmm& vmm, StreamEvents& events,
                   AllocationObserver& observer);
  ~CachingAllocator();

  AllocationResult Allocate(const Request& request);
  AllocationResult Allocate(Bytes bytes, StreamId stream, ContextId context = {}) {
    return Allocate({.bytes = bytes, .stream = stream, .context = context});
  }

  // The fast path of Allocate: serves the request from memory that is free on the stream. Returns
  // null, with no side effect, if it cannot.
  DeviceAddress TryAllocate(Bytes bytes, StreamId stream, ContextId context, Bytes at_least = 0);

  // kNotFound if `address` is not the start of a block in use. No driver error makes it fail.
  absl::Status Free(DeviceAddress address);

  // Defers reuse of the block, once freed, until the work queued on `stream` at that moment is
  // done.
  absl::Status RecordStream(DeviceAddress address, StreamId stream);

  // Gives every chunk that is entirely free back to the driver, after waiting for the streams that
  // used it: of all pools without users ({0, 0}), or of one pool.
  absl::Status EmptyCache(const PoolId& pool = {});

  // Sets the most bytes that may be mapped from now on; memory that is already mapped stays.
  void SetLimit(Bytes limit);

  // Returns every mapped range with its blocks, in address order. Merges recently freed blocks.
  std::vector<SegmentView> Snapshot() const;

  // The parts below lock the card in each of their functions, and live as long as this.

  // Private pools: their users, properties, routing and checkpoints.
  PrivatePools& pools();
  // Statistics, the ledger and the use of the plan.
  CardAccounts& accounts();
  const CardAccounts& accounts() const;
  // Memory for other processes and cards.
  MemorySharing& sharing();
  // Memory that goes out of the way, and comes back.
  Movement& movement();

  DeviceIndex device() const;

  // Aborts with both values if the structures contradict each other. For tests and fuzzers.
  void CheckInvariants() const;

 private:
  class State;
  template <typename Try>
  auto TryQuickly(Try attempt);

  std::unique_ptr<State> state_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_CACHING_ALLOCATOR_H_
