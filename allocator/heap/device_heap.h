// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_
#define MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/accounting.h"
#include "allocator/blocks/block.h"
#include "allocator/frees/capture_frees.h"
#include "allocator/frees/pending_frees.h"
#include "allocator/heap/heap_options.h"
#include "allocator/heap/request.h"
#include "allocator/heap/views.h"
#include "allocator/pools/pool_checkpoint.h"
#include "allocator/pools/pools.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// CachingAllocator without its lock: the policy of one card. A request is served by the first of
// these that succeeds; only from 3 on is the driver called:
//
//   1. frees whose events are done are completed (one query a recorded stream, none without);
//   2. if its group follows a plan and has a place for it, that, mapped as far as it is not; else
//      the block of the same size that was freed last, then the best fit among the free ranges of
//      the request's group;
//   3. a growth of one of its segments, or of a newly reserved one;
//      before 4, an unplanned request gets what lies free in the group's planned memory;
//   4. whole free chunks are taken back, just enough, other groups' first, and 3 again;
//   5. all whole free chunks are taken back, and 3 again;
//   6. waiting frees are waited for, the oldest first, 2 after each, and at last 5 once more;
//   7. what lies free among the blocks of the other sizes, then in the pools that were opened for
//      it (use_on_oom);
//   8. OutOfMemoryEvent.
//
// While a graph is being captured from a stream nothing can be waited for there: frees that would
// have to wait for it are put off until no requests are routed to a pool any more, or (if that is
// switched on) until its graph says that they come after all uses.
//
// Thread rule: the card's lock and those of all streams guard it.
class DeviceHeap {
 public:
  // References must outlive the heap.
  DeviceHeap(const HeapOptions& options, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
             StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
             AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND,
             QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Waits for everything queued, then gives all memory and address space back.
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // As in CachingAllocator.
  // `size`: what the block is to occupy.
  AllocationResult Allocate(const AllocationRequest& request, Bytes size);
  absl::Status Free(DeviceAddress address);
  absl::Status RecordStream(DeviceAddress address, StreamId stream);
  absl::Status EmptyCache(const PoolId& pool);
  void SetLimit(Bytes limit) { limit_ = limit; }

  void RetainPool(const PoolId& pool) { pools_.Retain(pool); }
  absl::Status ReleasePool(const PoolId& pool);
  absl::Status SetPoolSource(const PoolId& pool, std::shared_ptr<MemorySource> source);
  absl::Status SetPoolNoSplit(const PoolId& pool);
  absl::Status SetPoolUseOnOom(const PoolId& pool, bool use);
  absl::StatusOr<int> PoolUses(const PoolId& pool) const;
  absl::Status BeginRouting(const PoolId& pool, Pools::StreamFilter filter);
  absl::Status EndRouting(const PoolId& pool);
  void SetCaptureReuse(bool reuse) { capture_frees_.SetEnabled(reuse); }
  absl::StatusOr<PoolCheckpoint> CheckpointPool(const PoolId& pool);
  absl::StatusOr<PoolRestoration> RestorePool(const PoolCheckpoint& checkpoint);

  Accounting& accounting() { return accounting_; }
  AllocatorLedger ledger();
  PlanUse plan_use() const;
  std::optional<BlockRange> BaseAllocation(DeviceAddress address) const;
  std::vector<SegmentView> Snapshot();
  absl::StatusOr<std::vector<MappedChunk>> ChunksUnder(DeviceAddress address) const;
  absl::StatusOr<std::vector<SharedChunk>> Share(DeviceAddress address);
  absl::Status Admit(DeviceIndex peer);
  void CheckInvariants() const;

  // Whether requests of the default pool may be served without asking here.
  bool is_quiet() const { return pending_.empty() && put_off_.empty() && !pools_.routing(); }

 private:
  SegmentGroup& GroupOf(StreamId stream, Bytes size);
  absl::Status AddSegment(SegmentGroup& group, Bytes size);

  // A block; null if the card is full; a status if the driver failed. `place` is where the plan has
  // it, or 0.
  absl::StatusOr<Block*> Obtain(SegmentGroup& group, Bytes size, DeviceAddress place);
  absl::StatusOr<Block*> TakeBackAndGrow(SegmentGroup& group, Bytes size, DeviceAddress place);
  absl::StatusOr<Block*> TryGrow(SegmentGroup& group, Bytes size);
  DeviceAddress NextPlace(SegmentGroup& group, Bytes size);
  absl::StatusOr<Block*> TryPlace(SegmentGroup& group, DeviceAddress place, Bytes size, Bytes most);
  absl::StatusOr<Block*> TrySpare(SegmentGroup& group, Bytes size);
  absl::Status Grow(const SegmentGroup& group, const Growth& least);
  absl::StatusOr<Block*> ObtainFromPending(SegmentGroup& group, Bytes size);
  Block* ObtainFromDonors(const SegmentGroup& group, Bytes size);
  template <typename Visit>
  void ForEachDonor(const SegmentGroup& group, Visit visit) const;

  Bytes Shortfall(const SegmentGroup& group, Bytes size, DeviceAddress place);
  AllocationResult AllocateAt(const AllocationRequest& request, Bytes size);
  AllocationResult TakeFree(SegmentGroup& group, const AllocationRequest& request, Bytes size);
  DeviceAddress Hand(Block* block, Bytes requested, uint64_t context);
  SegmentGroup& GroupOf(const Block& block) const { return *groups_.Find(block.segment->key()); }
  void PutOff(Block* block);
  void MergeRecent();
  bool MustBePutOff(const Block& block);
  void TakeUpPutOff();
  void NoteLastUses(Block* block);
  void CompleteOrdered(StreamId stream);
  void CompletePutOff();
  void CompleteDoneFrees();
  void Complete(Block* block);
  absl::Status CompleteAllOf(const PoolId* pool);
  absl::StatusOr<Pool*> FindPool(const PoolId& pool) const;
  void ForgetUnusedPools();
  OutOfMemoryEvent DescribeFailure(const SegmentGroup& group, const AllocationRequest& request,
                                   Bytes size);
  OutOfMemoryEvent Reject(const SegmentGroup& group, AllocationRequest request, Bytes size);
  Bytes Unreserved() const;
  absl::StatusOr<DeviceMemory> LookAtCard();
  Bytes Room() const;
  AllocatorLedger SumUp() const;

  const DeviceIndex device_;
  const std::shared_ptr<const Plan> plan_;
  Bytes limit_;
  Bytes usable_ = 0;  // what was free, and what we held, when the driver was last asked
  Vmm& vmm_;
  StreamEvents& events_;
  Accounting accounting_;
  PendingFrees pending_;
  Pools pools_;  // before the groups, which refer to them
  SegmentGroups groups_;
  // Freed, while a graph is captured from a stream that uses them or the driver records no event.
  std::vector<Block*> put_off_;
  CaptureFrees capture_frees_;  // of them
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_DEVICE_HEAP_H_
