// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/expandable_segment.h"
#include "allocator/pools.h"
#include "allocator/segment_key.h"
#include "allocator/units.h"
#include "allocator/vmm.h"

namespace memtrace {

// All segments of one key, in the order they were reserved. Nearly always one, which grows: another
// is reserved only when blocks in use cut the first so badly that no run of its addresses is long
// enough. A pool whose blocks must not share a segment, or whose memory comes from elsewhere, has
// many fixed ones.
//
// Thread rule: none, the owner's lock guards it.
class SegmentGroup {
 public:
  // `pool` is null for the default one. All references must outlive the group.
  SegmentGroup(const SegmentKey& key, Pool* pool ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // A block from the first segment that has a fit; null if none has.
  Block* Take(Bytes size);

  // The growth of any segment that maps the fewest granules, the oldest among equals.
  std::optional<ExpandableSegment::Growth> PlanGrowth(Bytes size) const;

  // The least that has to be mapped for a request that fits no free range.
  Bytes LeastGrowth(Bytes size) const;

  // What one more segment for a request of `size` would reserve; `card` is the card's size.
  ExpandableSegment::Shape NextShape(Bytes size, Bytes card) const;
  absl::Status AddSegment(const ExpandableSegment::Shape& shape, BlockArena& arena,
                          Accounting& accounting);

  // The largest request that would fit if the driver had `available` more bytes, and room for one
  // more reservation of `reservation` bytes. For a pool with a source of its own: as if that had
  // no more.
  Bytes Obtainable(Bytes available, Bytes reservation) const;

  // Gives back the address space of segments without memory: of all, or only of fixed ones, which
  // are of no use to anyone then. A segment that the driver does not take back stays.
  void DropUnmapped(bool all);

  const SegmentKey& key() const { return key_; }
  Pool* pool() const { return pool_; }
  bool has_source() const { return source_ != nullptr; }
  const std::vector<std::unique_ptr<ExpandableSegment>>& segments() const { return segments_; }

 private:
  bool is_fixed() const { return pool_ != nullptr && pool_->has_fixed_segments(); }

  Bytes FixedSize(Bytes size) const;

  const SegmentKey key_;
  Pool* const pool_;
  Vmm& card_;
  std::unique_ptr<Vmm> source_;  // if the pool has one; outlives the segments
  std::vector<std::unique_ptr<ExpandableSegment>> segments_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_
