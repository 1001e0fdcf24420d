// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_SEGMENT_GROWER_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_SEGMENT_GROWER_H_

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/card/vmm.h"
#include "allocator/heap/parts/card_room.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// Serves requests by mapping more memory, as far as the card and the limit have room. Each Try
// returns a block in use, null if the card is full or the limit reached, or a status if the driver
// failed; a failed growth leaves everything as before it.
//
// Thread rule: guarded by the card's lock and those of all streams.
class SegmentGrower {
 public:
  // All references must outlive this. `movable_chunk`: the most granules of a chunk of movable
  // owners.
  SegmentGrower(Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
                SegmentGroups& groups ABSL_ATTRIBUTE_LIFETIME_BOUND,
                CardRoom& room ABSL_ATTRIBUTE_LIFETIME_BOUND,
                uint32_t movable_chunk = kLargestMovableChunk)
      : vmm_(vmm), groups_(groups), room_(room), movable_chunk_(movable_chunk) {}

  // Grows one of the group's segments or a newly reserved one.
  absl::StatusOr<Block*> TryGrow(SegmentGroup& group, Bytes size);

  // Returns the planned address of the group's next request; 0 if it is not planned.
  DeviceAddress NextPlannedAddress(SegmentGroup& group, Bytes size);

  // Takes the block at its planned address, if at most `most` bytes have to be mapped for it. Also
  // returns null if a part of the place is in use or `place` is null.
  absl::StatusOr<Block*> TryPlace(SegmentGroup& group, Bytes size, DeviceAddress place, Bytes most);

  // Takes a block from planned memory, or grows it, although other blocks may soon be due in that
  // place.
  absl::StatusOr<Block*> TrySpare(SegmentGroup& group, Bytes size);

  // Returns how many bytes must be taken back before the growth that would be made now.
  Bytes Shortfall(const SegmentGroup& group, Bytes size, DeviceAddress place);

 private:
  absl::Status AddSegment(SegmentGroup& group, Bytes size);
  absl::Status Grow(const SegmentGroup& group, const Growth& least);
  absl::Status GrowMovable(ExpandableSegment& segment, const Growth& least);

  Vmm& vmm_;
  SegmentGroups& groups_;
  CardRoom& room_;
  const uint32_t movable_chunk_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_SEGMENT_GROWER_H_
