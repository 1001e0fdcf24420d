// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_
#define MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_

#include <memory>

#include "absl/base/attributes.h"
#include "allocator/accounts/accounting.h"
#include "allocator/accounts/block_account.h"
#include "allocator/accounts/lane.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/blocks_by_address.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/vmm.h"
#include "allocator/plan/planned_memory.h"
#include "allocator/pools/group_segments.h"
#include "allocator/pools/pools.h"
#include "base/units.h"

namespace memtrace {

// All memory of one key, and the life of its blocks: a block is taken, handed to the program,
// freed, and merged with its neighbours, at once or later. There is nearly always one segment,
// which grows: another is reserved only if blocks in use leave no range of its addresses that is
// long enough.
//
// Thread rule: the card's lock and the stream's (Lane) guard all of it; the stream's lock alone
// suffices to take, hand, find and free, which neither map nor unmap.
class SegmentGroup {
 public:
  // `pool` is null for the default pool, `section` if the group follows no plan. All references
  // must outlive the group.
  SegmentGroup(const SegmentKey& key, Pool* pool ABSL_ATTRIBUTE_LIFETIME_BOUND,
               const PlanSection* section ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Lane& lane ABSL_ATTRIBUTE_LIFETIME_BOUND, Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Takes a free block that fits: the block of exactly this size that was freed last, otherwise the
  // best fit; null if nothing fits. For a large request all free memory is merged first, to find
  // the real best fit; for a small one only if nothing fits otherwise, because little memory is at
  // stake and small blocks are freed and requested again most often.
  Block* Take(Bytes size);

  // Takes [address, address + size); null unless all of it is free.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Counts a block that was taken, and tells the observer. REQUIRES: the lane's share has room for
  // it.
  DeviceAddress HandOut(Block* block, Bytes requested, ContextId context) {
    block->requested = requested;
    block->context = context;
    blocks_.NoteHandedOut(block);
    account_.Allocated(*block, key_, lane_.share);
    return block->address;
  }

  // Counts and reports the free of a block that no other stream may still use.
  void Free(Block* block);

  // Counts and reports the free of a block that waits for other streams, until it is given back. A
  // block that sleeps or is on the host is neither counted nor reported; on the host it waits for
  // Spill.
  void StartWaiting(Block* block);
  void FinishWaiting(Block* block);

  // Merges recently freed blocks with their free neighbours.
  void MergeRecent();

  // Aborts if blocks in use, addresses and recently freed blocks contradict each other.
  void CheckInvariants() const;

  const SegmentKey& key() const { return key_; }
  Lane& lane() const { return lane_; }
  Pool* pool() const { return pool_; }
  GroupSegments& segments() { return segments_; }
  const GroupSegments& segments() const { return segments_; }
  const BlocksByAddress& blocks() const { return blocks_; }
  // Returns null if the group follows no plan.
  PlannedMemory* planned() const { return planned_.get(); }

 private:
  void LeaveOnHost(Block* block);
  Block* Known(Block* block);
  void Merge(Block* recent);
  void Return(Block* block);

  const SegmentKey key_;
  Pool* const pool_;
  Lane& lane_;
  BlockAccount& account_;
  GroupSegments segments_;
  BlocksByAddress blocks_;
  std::unique_ptr<PlannedMemory> planned_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_
