// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_PLAN_PLANNED_MEMORY_H_
#define MEMTRACE_ALLOCATOR_PLAN_PLANNED_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/base/attributes.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/blocks_by_address.h"
#include "allocator/plan/plan_cursor.h"
#include "allocator/segment/expandable_segment.h"
#include "base/units.h"

namespace memtrace {

// Counts the large requests of streams with a plan, by where they were served.
struct PlanUse {
  uint64_t placed = 0;     // at the planned address
  uint64_t elsewhere = 0;  // unplanned, or the planned place was in use

  friend bool operator==(const PlanUse&, const PlanUse&) = default;
};

// The plan of one group: its cursor and, once the first planned request has come, the segment that
// has the planned addresses.
//
// Thread rule: guarded by the lock of the group's stream.
class PlannedMemory {
 public:
  // Adds the blocks that are taken to `blocks`. Both must outlive this.
  PlannedMemory(const PlanSection& section ABSL_ATTRIBUTE_LIFETIME_BOUND,
                BlocksByAddress& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : cursor_(section), blocks_(blocks) {}

  // Takes the block that is due, and moves the cursor on. Returns null, without moving the cursor,
  // if another size is due or the place is not mapped and free.
  Block* TakeDue(Bytes size) {
    const std::optional<Bytes> offset = cursor_.NextIfDue(size);
    if (segment_ == nullptr || !offset.has_value()) return nullptr;
    Block* block = segment_->blocks().TakeAt(segment_->reservation().address() + *offset, size);
    if (block == nullptr) return nullptr;
    cursor_.Next(size);
    ++use_.placed;
    blocks_.Add(block);
    return block;
  }

  // Takes the best fit among the free ranges here, although other blocks may soon be due in them;
  // null if nothing fits.
  Block* TakeSpare(Bytes size) {
    Block* block = segment_ == nullptr ? nullptr : segment_->blocks().Take(size);
    if (block != nullptr) blocks_.Add(block);
    return block;
  }
  // Returns the growth after which TakeSpare would succeed.
  std::optional<Growth> PlanSpareGrowth(Bytes size) const {
    return segment_ == nullptr ? std::nullopt : segment_->blocks().holes().PlanGrowth(size);
  }

  // The memory that must be mapped before all of [address, address + size) is.
  struct Missing {
    Bytes bytes = 0;
    Growth first;  // the lowest missing part, if any is missing
  };
  // Returns nothing if a part of the range is in use. REQUIRES: the segment exists.
  std::optional<Missing> MissingAt(DeviceAddress address, Bytes size) const;

  // Advances by one request and returns its offset, if it is planned.
  std::optional<Bytes> Next(Bytes size) { return cursor_.Next(size); }

  void Count(bool is_placed) { ++(is_placed ? use_.placed : use_.elsewhere); }

  // The size is more than one granule, because a segment of one granule is fixed.
  SegmentShape Shape(Bytes granularity) const {
    const Bytes size = RoundUp(cursor_.section().bytes, granularity);
    return {std::max(size, 2 * granularity), granularity, /*holds_one=*/false, /*is_planned=*/true};
  }
  // Sets the segment of that shape, which the group owns.
  void Use(ExpandableSegment& segment) { segment_ = &segment; }
  ExpandableSegment* segment() const { return segment_; }

  const PlanUse& use() const { return use_; }

 private:
  PlanCursor cursor_;
  BlocksByAddress& blocks_;
  ExpandableSegment* segment_ = nullptr;
  PlanUse use_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_PLAN_PLANNED_MEMORY_H_
