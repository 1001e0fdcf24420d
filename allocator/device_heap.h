// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_DEVICE_HEAP_H_
#define MEMTRACE_ALLOCATOR_DEVICE_HEAP_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounting.h"
#include "allocator/block.h"
#include "allocator/caching_allocator.h"
#include "allocator/pending_frees.h"
#include "allocator/segment_group.h"
#include "allocator/segment_key.h"
#include "allocator/units.h"

namespace memtrace {

// CachingAllocator without its lock: the policy of one card. A request is served by the first of
// these that succeeds; only from 3 on is the driver called:
//
//   1. frees whose events are done are completed (one query a recorded stream, none without);
//   2. the best fit among the free ranges of the request's group;
//   3. a growth of one of its segments, or of a newly reserved one;
//   4. whole free chunks are taken back, just enough, other groups' first, and 3 again;
//   5. all whole free chunks are taken back, and 3 again;
//   6. waiting frees are waited for, the oldest first, 2 after each, and at last 5 once more;
//   7. OutOfMemoryEvent.
//
// A free block's memory is still in use by work queued on its own stream at most: what other
// streams were recorded is waited for before a block becomes free. So a chunk may change its owner
// once an event on the owner's stream is done.
//
// Thread rule: none, CachingAllocator's lock guards it.
class DeviceHeap {
 public:
  // References must outlive the heap.
  DeviceHeap(const CachingAllocator::Options& options, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
             StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
             AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Waits for everything queued, then gives all memory and address space back.
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // As in CachingAllocator.
  AllocationResult Allocate(Bytes bytes, StreamId stream, uint64_t context);
  absl::Status Free(DeviceAddress address);
  absl::Status RecordStream(DeviceAddress address, StreamId stream);
  absl::Status EmptyCache();
  void SetLimit(Bytes limit) { limit_ = limit; }

  Accounting& accounting() { return accounting_; }
  AllocatorLedger ledger() const;
  std::optional<CachingAllocator::Range> BaseAllocation(DeviceAddress address) const;
  std::vector<SegmentView> Snapshot() const;
  void CheckInvariants() const;

 private:
  static constexpr Bytes kEverything = ~Bytes{0};

  SegmentGroup& GroupOf(const SegmentKey& key);
  absl::Status AddSegment(SegmentGroup& group, Bytes size);

  // A block; null if the card is full; a status if the driver failed.
  absl::StatusOr<Block*> Obtain(SegmentGroup& group, Bytes size);
  absl::StatusOr<Block*> TryGrow(SegmentGroup& group, Bytes size);
  absl::StatusOr<Block*> ObtainFromPending(SegmentGroup& group, Bytes size);

  Bytes Shortfall(const SegmentGroup& group, Bytes size);
  absl::Status TakeBack(Bytes wanted, const SegmentGroup* last);
  absl::StatusOr<Bytes> TakeBackFrom(const SegmentGroup& group, Bytes wanted);
  absl::Status WaitFor(StreamId stream);

  void CompleteDoneFrees();
  void Complete(Block* block);
  OutOfMemoryEvent DescribeFailure(const SegmentGroup& group, Bytes bytes, Bytes size,
                                   uint64_t context);
  Bytes Unreserved() const;
  template <typename Visit>
  void ForEachSegment(Visit visit) const;

  const DeviceIndex device_;
  Bytes limit_;
  Vmm& vmm_;
  StreamEvents& events_;
  Accounting accounting_;
  PendingFrees pending_;
  BlockArena arena_;  // before the groups, whose segments give their blocks back to it
  std::vector<std::unique_ptr<SegmentGroup>> groups_;  // by age, so that runs can be repeated
  absl::flat_hash_map<SegmentKey, SegmentGroup*> group_by_key_;
  absl::flat_hash_map<DeviceAddress, Block*> in_use_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_DEVICE_HEAP_H_
