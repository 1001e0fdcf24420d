// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_GROUP_SEGMENTS_H_
#define MEMTRACE_ALLOCATOR_POOLS_GROUP_SEGMENTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/vmm.h"
#include "allocator/pools/pools.h"
#include "allocator/segment/expandable_segment.h"
#include "base/units.h"

namespace memtrace {

// The segments of one group, in the order they were reserved, the records of their blocks, and the
// source of their memory: the card, or the pool's own source. It decides the shape of the next
// segment: one that can grow to the size of the card or, for a pool whose blocks must not share a
// segment or whose memory comes from its own source, a fixed one for a single request.
//
// A planned segment serves only requests for given addresses, so Take and PlanGrowth skip it.
//
// Thread rule: guarded by the owner's lock.
class GroupSegments {
 public:
  // `pool` is null for the default pool. All references must outlive this.
  GroupSegments(const SegmentKey& key, const Pool* pool ABSL_ATTRIBUTE_LIFETIME_BOUND,
                Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
                MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Takes a recently freed block of exactly `size` bytes; null if there is none.
  Block* TakeRecent(Bytes size) {
    for (const auto& segment : segments_) {
      if (Block* block = segment->blocks().recent().Take(size)) return block;
    }
    return nullptr;
  }
  // Takes the best fit among the free ranges of the first segment that has one; null if none fits.
  Block* TakeFree(Bytes size) {
    for (const auto& segment : segments_) {
      if (segment->shape().is_planned) continue;
      if (Block* block = segment->blocks().Take(size)) return block;
    }
    return nullptr;
  }
  // Takes [address, address + size); null unless all of it is free.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Returns the growth that maps the fewest granules, over all segments; the oldest segment's if
  // several do.
  std::optional<Growth> PlanGrowth(Bytes size) const;

  // Returns the fewest bytes that must be mapped for a request that fits no free range.
  Bytes LeastGrowth(Bytes size) const;

  // Returns the shape of a new segment for a request of `size` on `card`.
  SegmentShape NextShape(Bytes size, const DeviceMemory& card) const;
  // Reserves one more segment.
  absl::StatusOr<ExpandableSegment*> Add(const SegmentShape& shape);

  // Returns the largest request that would fit if the driver had `available` more bytes, and room
  // for one more reservation of `reservation` bytes. If the pool has a source, assumes that the
  // source has no more memory.
  Bytes Obtainable(Bytes available, Bytes reservation) const;

  // Gives back the address space of segments without memory: of all, or only of fixed ones, which
  // nobody can use any more. A segment that the driver refuses to take back stays.
  void DropUnmapped(bool all);

  bool has_source() const { return source_ != nullptr; }
  const std::vector<std::unique_ptr<ExpandableSegment>>& all() const { return segments_; }

 private:
  bool is_fixed() const { return pool_ != nullptr && pool_->has_fixed_segments(); }
  Bytes FixedSize(Bytes size) const;

  const SegmentKey key_;
  const Pool* const pool_;
  Vmm& card_;
  MappingAccount& account_;
  std::unique_ptr<Vmm> source_;  // set if the pool has one; outlives the segments
  BlockArena arena_;             // also outlives the segments, which return their blocks to it
  std::vector<std::unique_ptr<ExpandableSegment>> segments_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_GROUP_SEGMENTS_H_
