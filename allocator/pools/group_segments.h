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

// The segments of one group, in the order they were reserved, the records of their blocks, and
// where their memory comes from: the card, or the pool's own source. It decides the shape of the
// next segment: one that grows over the whole card or, for a pool whose blocks must not share a
// segment or whose memory comes from elsewhere, a fixed one for a single request.
//
// A planned segment serves only requests for stated addresses, so Take and PlanGrowth pass over it.
//
// Thread rule: the owner's lock guards it.
class GroupSegments {
 public:
  // `pool` is null for the default one. All references must outlive this.
  GroupSegments(const SegmentKey& key, const Pool* pool ABSL_ATTRIBUTE_LIFETIME_BOUND,
                Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
                MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Returns a block of exactly `size` bytes that was freed recently, in use again; null if there is
  // none.
  Block* TakeRecent(Bytes size) {
    for (const auto& segment : segments_) {
      if (Block* block = segment->blocks().recent().Take(size)) return block;
    }
    return nullptr;
  }
  // Returns the best fit among the free ranges of the first segment that has one, in use; null if
  // none fits.
  Block* TakeFree(Bytes size) {
    for (const auto& segment : segments_) {
      if (segment->shape().is_planned) continue;
      if (Block* block = segment->blocks().Take(size)) return block;
    }
    return nullptr;
  }
  // Returns [address, address + size), in use; null unless all of it is free.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Returns the growth of any segment that maps the fewest granules, the oldest segment's among
  // equals.
  std::optional<Growth> PlanGrowth(Bytes size) const;

  // Returns the least that has to be mapped for a request that fits no free range.
  Bytes LeastGrowth(Bytes size) const;

  // Returns what one more segment for a request of `size` would reserve on `card`.
  SegmentShape NextShape(Bytes size, const DeviceMemory& card) const;
  // Reserves one more segment.
  absl::StatusOr<ExpandableSegment*> Add(const SegmentShape& shape);

  // Returns the largest request that would fit if the driver had `available` more bytes, and room
  // for one more reservation of `reservation` bytes. If the pool has a source, as if the source had
  // no more.
  Bytes Obtainable(Bytes available, Bytes reservation) const;

  // Gives back the address space of segments without memory: of all, or only of fixed ones, which
  // are of no use to anyone then. A segment that the driver does not take back stays.
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
  std::unique_ptr<Vmm> source_;  // if the pool has one; outlives the segments
  BlockArena arena_;             // likewise: they give their blocks back to it
  std::vector<std::unique_ptr<ExpandableSegment>> segments_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_GROUP_SEGMENTS_H_
