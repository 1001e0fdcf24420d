// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CACHING_ALLOCATOR_H_
#define MEMTRACE_ALLOCATOR_CACHING_ALLOCATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "allocator/allocation_observer.h"
#include "allocator/statistics.h"
#include "allocator/stream_events.h"
#include "allocator/units.h"
#include "allocator/vmm.h"

namespace memtrace {

// One mapped, contiguous range of a segment, with its blocks, for snapshots.
struct BlockView {
  DeviceAddress address = 0;
  Bytes size = 0;
  Bytes requested = 0;
  enum class State { kAllocated, kPendingFree, kFree } state = State::kFree;
  uint64_t context = 0;
};
struct SegmentView {
  DeviceAddress address = 0;
  Bytes size = 0;
  StreamId stream{};
  PoolId pool;
  bool small = false;
  std::vector<BlockView> blocks;  // tile [address, address + size) in order
};

// What an allocation came to: an address, or why there is none.
using AllocationResult = std::variant<DeviceAddress, OutOfMemoryEvent, absl::Status>;

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
  struct Options {
    DeviceIndex device{};
    Bytes limit = ~Bytes{0};  // most bytes to reserve
  };

  // `vmm`, `events` and `observer` must outlive the allocator.
  CachingAllocator(Options options, Vmm& vmm, StreamEvents& events, AllocationObserver& observer);
  ~CachingAllocator();

  // REQUIRES: bytes > 0. `context` comes back in every event about the block.
  AllocationResult Allocate(Bytes bytes, StreamId stream, uint64_t context);

  // kNotFound if `address` is not the start of a block in use.
  absl::Status Free(DeviceAddress address);

  // Defers reuse of the block, once freed, until what is queued on `stream` at that moment is done.
  absl::Status RecordStream(DeviceAddress address, StreamId stream);

  // Gives every whole free chunk back to the driver, waiting for the streams that used it.
  absl::Status EmptyCache();

  void SetLimit(Bytes limit);

  Statistics statistics() const;
  void ResetPeakStatistics();
  void ResetAccumulatedStatistics();
  AllocatorLedger ledger() const;

  // Start and size of the block that contains `address`.
  struct Range {
    DeviceAddress address = 0;
    Bytes size = 0;
  };
  std::optional<Range> BaseAllocation(DeviceAddress address) const;
  std::vector<SegmentView> Snapshot() const;

  // Aborts with both values if the structures contradict each other. For tests and fuzzers.
  void CheckInvariants() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CACHING_ALLOCATOR_H_
