// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_
#define MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_

#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/accounting.h"
#include "allocator/blocks/block.h"
#include "allocator/heap/parts/card_room.h"
#include "allocator/heap/parts/heap_options.h"
#include "allocator/heap/parts/leaving_memory.h"
#include "allocator/heap/parts/request.h"
#include "allocator/heap/parts/segment_grower.h"
#include "allocator/heap/parts/waiting_frees.h"
#include "allocator/pools/pools.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// The memory of one card and the policy by which requests are served, without a lock. A request is
// served by the first of these steps that succeeds. Steps 1 and 2 reserve and map nothing except
// for planned places:
//
//   1. frees whose events are done are completed (one query a recorded stream, none without);
//   2. if its group follows a plan and has a place for it, that place, mapped as far as needed;
//      otherwise the block of the same size that was freed last, then the best fit among the free
//      ranges of the request's group. A request that would grow the card past `reject_above` ends
//      here once planned memory has nothing free for it; `only_free` also ends here, without a
//      planned place; `at` skips all steps after 1;
//   3. a growth of one of its segments, or of a newly reserved one; then, if it has no place of its
//      own, memory that is free or can be mapped in the group's planned memory ("spare");
//   4. leaving memory is kept, and tried if there was any; then chunks that are entirely free are
//      taken back, as few as needed, other groups' first; then its place and a growth are tried
//      again;
//   5. all chunks that are entirely free are taken back; then the same again, and the spare memory;
//   6. waiting frees are waited for, the oldest first; after each, memory that is free in the group
//      and in its planned memory; finally step 5 once more, without the place;
//   7. memory that is free among the blocks of the other sizes, then in the pools that were opened
//      for this (use_on_oom);
//   8. OutOfMemoryEvent.
//
// Thread rule: guarded by the card's lock and those of all streams.
class DeviceHeap {
 public:
  // All references must outlive the heap.
  DeviceHeap(const HeapOptions& options, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
             StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
             AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND,
             QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Waits for all queued work, then gives all memory and address space back.
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // CachingAllocator documents these. `size` is the rounded size of the block.
  AllocationResult Allocate(const AllocationRequest& request, Bytes size);
  absl::Status Free(DeviceAddress address);
  absl::Status RecordStream(DeviceAddress address, StreamId stream);
  absl::Status EmptyCache(const PoolId& pool);

  // Counts a block that was taken from any group, and tells the observer.
  DeviceAddress HandOut(Block* block, Bytes requested, ContextId context);

  // Gives cached memory back as far as the rules for it say so.
  void EndStep();

  // Forgets the pools that have neither users nor memory. A pool with memory is kept until its
  // blocks are freed and its chunks taken back.
  void ForgetUnusedPools();

  Accounting& accounting() { return accounting_; }
  CardRoom& room() { return room_; }
  Pools& pools() { return pools_; }
  SegmentGroups& groups() { return groups_; }
  WaitingFrees& waiting() { return waiting_; }
  LeavingMemory& leaving() { return leaving_; }

  // True if requests of the default pool may be served without involving the heap.
  bool is_quiet() const { return waiting_.empty() && !pools_.routing(); }

  // Aborts with both values if the structures contradict each other.
  void CheckInvariants() const;

 private:
  absl::Status FreeOnHost(DeviceAddress address);
  // Lets go of chunks that pools without users share with others, after a wait for all work.
  void EndTurns();
  SegmentGroup& GroupOf(const AllocationRequest& request, Bytes size);
  // Takes a free block of the group, or obtains memory for one. Inline: it is part of each request.
  ABSL_ATTRIBUTE_ALWAYS_INLINE AllocationResult AllocateIn(SegmentGroup& group,
                                                           const AllocationRequest& request,
                                                           Bytes size);
  AllocationResult AllocateAt(const AllocationRequest& request, Bytes size);
  AllocationResult TakeFree(SegmentGroup& group, const AllocationRequest& request, Bytes size);

  // Returns a block; null if the card is full; a status if the driver failed. `place` is the
  // planned address, or 0.
  absl::StatusOr<Block*> Obtain(SegmentGroup& group, Bytes size, DeviceAddress place);
  absl::StatusOr<Block*> TakeBackAndGrow(SegmentGroup& group, Bytes size, DeviceAddress place);
  absl::StatusOr<Block*> ObtainFromPending(SegmentGroup& group, Bytes size);
  Block* ObtainFromDonors(const SegmentGroup& group, Bytes size);
  template <typename Visit>
  void ForEachDonor(const SegmentGroup& group, Visit visit) const;

  OutOfMemoryEvent DescribeFailure(const SegmentGroup& group, const AllocationRequest& request,
                                   Bytes size);
  OutOfMemoryEvent Reject(const SegmentGroup& group, AllocationRequest request, Bytes size);

  const DeviceIndex device_;
  const std::shared_ptr<const Plan> plan_;
  Vmm& vmm_;
  StreamEvents& events_;
  Accounting accounting_;
  CardRoom room_;
  Pools pools_;  // before the groups, which refer to them
  SegmentGroups groups_;
  WaitingFrees waiting_;
  LeavingMemory leaving_;
  CacheRules cache_rules_;
  SegmentGrower grower_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_
