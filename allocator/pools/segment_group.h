// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_
#define MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "allocator/accounts/accounting.h"
#include "allocator/accounts/lane.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/card/vmm.h"
#include "allocator/plan/planned_memory.h"
#include "allocator/pools/pools.h"
#include "allocator/segment/expandable_segment.h"
#include "base/fibonacci_hash.h"
#include "base/units.h"

namespace memtrace {

// All segments of one key, in the order they were reserved. Nearly always one, which grows: another
// is reserved only when blocks in use cut the first so badly that no run of its addresses is long
// enough. A pool whose blocks must not share a segment, or whose memory comes from elsewhere, has
// many fixed ones.
//
// Thread rule: the card's lock and the stream's (Lane) guard all of it; the stream's alone suffices
// for what says so, which neither maps nor unmaps.
class SegmentGroup {
 public:
  // `pool` is null for the default one. All references must outlive the group.
  SegmentGroup(const SegmentKey& key, Pool* pool ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Lane& lane ABSL_ATTRIBUTE_LIFETIME_BOUND, Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // From now on the places of `section`, which must outlive the group, are its requests' places.
  // Before the first request.
  void Follow(const PlanSection& section) { planned_ = std::make_unique<PlannedMemory>(section); }
  // Null if it follows no plan.
  PlannedMemory* planned() const { return planned_.get(); }

  // The stream's lock suffices for these seven.

  // Room for one more block in what the stream may have in use without asking the card.
  bool HasRoomFor(Bytes size, Bytes requested) const {
    return lane_.share.HasRoomFor(key_.small, AmountsOf(size, requested));
  }
  // What is free and fits, in use: the block of just this size that was freed last, else the best
  // fit. Null if nothing fits. For a large request all that is free is merged first, so that it is
  // the best fit there is; for a small one only if nothing fits otherwise: what is at stake is
  // small, and small blocks are freed and asked for again most often.
  Block* Take(Bytes size);
  // Take, for a request that nothing has been done for yet: of a group that follows a plan the
  // block that is due, or null; then nothing has happened.
  Block* TakeFirst(Bytes size);
  // The block in use that starts there; null if there is none.
  Block* Find(DeviceAddress address) const {
    Block* likely = handed_[SlotOf(address)];
    const bool is_it = likely != nullptr && likely->address == address;
    return is_it && likely->is(Block::State::kAllocated) ? likely : FindKnown(address);
  }
  // Counts a block that was taken, and tells it. REQUIRES: HasRoomFor it.
  DeviceAddress Hand(Block* block, Bytes requested, uint64_t context) {
    block->requested = requested;
    block->context = context;
    handed_[SlotOf(block->address)] = block;
    accounting_.Allocated(*block, key_, lane_.share);
    return block->address;
  }
  // Notes that another stream uses a block, too.
  void RecordStream(Block& block, StreamId stream) const;
  // Counts and tells a block that is freed, and that no other stream may still use.
  void Free(Block* block);

  void MakeRoomFor(Bytes size, Bytes requested) {
    accounting_.MakeRoom(lane_.share, key_.small, AmountsOf(size, requested));
  }

  // [address, address + size), in use; null unless all of it is free.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Take and PlanGrowth in planned memory, which they leave alone.
  Block* TakeSpare(Bytes size);
  Block* TakeAny(Bytes size) {
    Block* block = Take(size);
    return block != nullptr ? block : TakeSpare(size);
  }
  std::optional<ExpandableSegment::Growth> PlanSpareGrowth(Bytes size) const;

  // A block that is freed and waits for other streams, until it is given back.
  void LetWait(Block* block);
  void GiveBackWaiting(Block* block);

  void MergeRecent();

  // Every block in use, in no order.
  template <typename Visit>
  void ForEachInUse(Visit visit) const {
    for (const auto& [address, block] : by_address_) {
      if (block->is(Block::State::kAllocated)) visit(block);
    }
  }

  // The growth of any segment that maps the fewest granules, the oldest among equals.
  std::optional<ExpandableSegment::Growth> PlanGrowth(Bytes size) const;

  // The least that has to be mapped for a request that fits no free range.
  Bytes LeastGrowth(Bytes size) const;

  // What one more segment for a request of `size` would reserve; `card` is the card's size.
  ExpandableSegment::Shape NextShape(Bytes size, Bytes card) const;
  absl::Status AddSegment(const ExpandableSegment::Shape& shape);

  // The largest request that would fit if the driver had `available` more bytes, and room for one
  // more reservation of `reservation` bytes. For a pool with a source of its own: as if that had
  // no more.
  Bytes Obtainable(Bytes available, Bytes reservation) const;

  // Aborts if blocks in use, addresses and recently freed blocks contradict each other.
  void CheckInvariants() const;

  // Gives back the address space of segments without memory: of all, or only of fixed ones, which
  // are of no use to anyone then. A segment that the driver does not take back stays.
  void DropUnmapped(bool all);

  const SegmentKey& key() const { return key_; }
  Lane& lane() const { return lane_; }
  Pool* pool() const { return pool_; }
  bool has_source() const { return source_ != nullptr; }
  const std::vector<std::unique_ptr<ExpandableSegment>>& segments() const { return segments_; }

 private:
  bool is_fixed() const { return pool_ != nullptr && pool_->has_fixed_segments(); }

  static constexpr size_t kSlots = 256;
  static constexpr size_t SlotOf(DeviceAddress address) {
    return FibonacciHash<8>(address / kAllocationUnit);
  }

  Bytes FixedSize(Bytes size) const;
  Block* FindKnown(DeviceAddress address) const;
  Block* TakeRecent(Bytes size);
  Block* TakeFree(Bytes size);
  Block* Known(Block* block);
  void Merge(Block* recent);
  void Return(Block* block);

  const SegmentKey key_;
  Pool* const pool_;
  Lane& lane_;
  Vmm& card_;
  Accounting& accounting_;
  std::unique_ptr<Vmm> source_;  // if the pool has one; outlives the segments
  BlockArena arena_;             // likewise: they give their blocks back to it
  std::vector<std::unique_ptr<ExpandableSegment>> segments_;
  std::unique_ptr<PlannedMemory> planned_;                 // if it follows a plan
  absl::flat_hash_map<DeviceAddress, Block*> by_address_;  // in use, or recently freed
  // Of those, some handed out lately: what is freed is mostly young. Records of blocks are used
  // again but never deleted, so an outdated entry is just another block's.
  std::array<Block*, kSlots> handed_{};
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUP_H_
