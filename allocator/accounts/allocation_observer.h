// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_

#include <atomic>

#include "base/units.h"

namespace memtrace {

// An event of one block. `context` is the value that the caller passed to Allocate; the allocator
// never reads it.
struct BlockEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  DeviceAddress address = {};
  Bytes requested = 0;  // as requested
  Bytes allocated = 0;  // after rounding: the size of the block
  ContextId context{};
};

// A range of a segment that was mapped, unmapped, or (Reserved) added to the segment's address
// space.
struct RangeEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  DeviceAddress address = {};
  Bytes size = 0;
};

// How a card's mapped memory is used, in bytes. live_allocated + stream_wait + cached + holes +
// pinned == reserved. Blocks in use whose memory sleeps, or of which the host has a part, are in
// none of these: their memory is among the last four figures, which take nothing of the card.
struct AllocatorLedger {
  Bytes reserved = 0;        // mapped
  Bytes live_requested = 0;  // in use, as requested
  Bytes live_allocated = 0;  // in use, after rounding
  Bytes stream_wait = 0;     // freed, waiting for another stream (after rounding)
  Bytes cached = 0;          // whole free chunks: can be unmapped or mapped elsewhere
  Bytes holes = 0;           // free, but in a chunk that is partly in use
  Bytes pinned = 0;          // free in private pools with users: a graph's replay may write there
  Bytes largest_hole = 0;    // the largest free mapped range, whole chunks included
  Bytes asleep = 0;          // that wakes will map (Sleep)
  Bytes on_host = 0;         // the host's memory at addresses of the card (Spill)
  Bytes host_copies = 0;     // of the host: contents of what sleeps
  Bytes host_pooled = 0;     // of the host: kept for the next sleep
};

struct OutOfMemoryEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  Bytes requested = 0;
  Bytes allocated = 0;    // after rounding
  Bytes obtainable = 0;   // the largest request that would have succeeded
  Bytes limit = 0;        // bytes this process may reserve on the card; all ones if unlimited
  Bytes device_free = 0;  // as the driver reports it
  Bytes device_total = 0;
  ContextId context{};
  bool is_rejected = false;  // by Request::reject_above: no cached memory was taken back
  AllocatorLedger ledger;
};

// The only way out of the allocator. Its functions are called under the card's lock, in the order
// of the events: an observer must not call the allocator, must not block, and must not throw.
class AllocationObserver {
 public:
  virtual ~AllocationObserver() = default;

  // True if the four functions for blocks have to be called. Otherwise the allocator skips them, so
  // that events without a listener cost nothing.
  bool observes_blocks() const { return observes_blocks_.load(std::memory_order_relaxed); }

  virtual void Allocated(const BlockEvent&) {}
  virtual void FreeRequested(const BlockEvent&) {}
  virtual void FreeCompleted(const BlockEvent&) {}
  // FreeRequested and FreeCompleted in one, for a block that did not have to wait.
  virtual void Freed(const BlockEvent& block) {
    FreeRequested(block);
    FreeCompleted(block);
  }
  virtual void Reserved(const RangeEvent&) {}
  virtual void Mapped(const RangeEvent&) {}
  virtual void Unmapped(const RangeEvent&) {}
  virtual void OutOfMemory(const OutOfMemoryEvent&) {}

 protected:
  // Switches the events of blocks on or off, from the next event on. Any thread.
  void SetObservesBlocks(bool hears) { observes_blocks_.store(hears, std::memory_order_relaxed); }

 private:
  std::atomic<bool> observes_blocks_ = true;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_
