// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_

#include <atomic>

#include "base/units.h"

namespace memtrace {

// What happened to a block. `context` is what the caller passed to Allocate; the allocator never
// reads it.
struct BlockEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  DeviceAddress address = {};
  Bytes requested = 0;  // as asked for
  Bytes allocated = 0;  // after rounding: what the block occupies
  ContextId context{};
};

// A range of a segment that got physical memory, lost it, or (Reserved) became address space of a
// segment.
struct RangeEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  DeviceAddress address = {};
  Bytes size = 0;
};

// Where a card's mapped memory is, in bytes. live_allocated + stream_wait + cached + holes + pinned
// == reserved.
struct AllocatorLedger {
  Bytes reserved = 0;        // mapped
  Bytes live_requested = 0;  // in use, as asked for
  Bytes live_allocated = 0;  // in use, after rounding
  Bytes stream_wait = 0;     // freed, waiting for another stream (after rounding)
  Bytes cached = 0;          // whole free chunks: could be given back or mapped elsewhere
  Bytes holes = 0;           // free, but in a chunk that is partly in use
  Bytes pinned = 0;          // free in private pools with users: a graph's replay may write there
  Bytes largest_hole = 0;    // the largest free mapped range, whole chunks included
};

struct OutOfMemoryEvent {
  DeviceIndex device{};
  StreamId stream{};
  PoolId pool;
  Bytes requested = 0;
  Bytes allocated = 0;    // after rounding
  Bytes obtainable = 0;   // the largest request that could have been served
  Bytes limit = 0;        // bytes this process may reserve on the card; all ones if unlimited
  Bytes device_free = 0;  // as the driver says
  Bytes device_total = 0;
  ContextId context{};
  bool is_rejected = false;  // by Request::reject_above: nobody was asked to give anything back
  AllocatorLedger ledger;
};

// The only way out of the allocator. Called under the card's lock, in the order in which things
// happened: an observer must not call the allocator, must not block, and must not throw.
class AllocationObserver {
 public:
  virtual ~AllocationObserver() = default;

  // True if the four functions for blocks have to be called: nobody should pay for events that
  // nobody hears.
  bool hears_of_blocks() const { return hears_of_blocks_.load(std::memory_order_relaxed); }

  virtual void Allocated(const BlockEvent&) {}
  virtual void FreeRequested(const BlockEvent&) {}
  virtual void FreeCompleted(const BlockEvent&) {}
  // The two in one: nothing had to be waited for.
  virtual void Freed(const BlockEvent& block) {
    FreeRequested(block);
    FreeCompleted(block);
  }
  virtual void Reserved(const RangeEvent&) {}
  virtual void Mapped(const RangeEvent&) {}
  virtual void Unmapped(const RangeEvent&) {}
  virtual void OutOfMemory(const OutOfMemoryEvent&) {}

 protected:
  // Switches them on or off, from the next event on. Any thread.
  void HearOfBlocks(bool hears) { hears_of_blocks_.store(hears, std::memory_order_relaxed); }

 private:
  std::atomic<bool> hears_of_blocks_ = true;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_ALLOCATION_OBSERVER_H_
