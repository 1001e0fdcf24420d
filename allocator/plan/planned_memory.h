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

// How many large requests of streams with a plan were served, and where.
struct PlanUse {
  uint64_t placed = 0;     // where the plan says
  uint64_t elsewhere = 0;  // unplanned, or the place was in use

  friend bool operator==(const PlanUse&, const PlanUse&) = default;
};

// What a group that follows a plan has for it: where the program is, and the segment whose
// addresses are planned, once the first planned request has come.
//
// Thread rule: the lock of the group's stream guards it.
class PlannedMemory {
 public:
  // The blocks that are taken are added to `blocks`. Both must outlive this.
  PlannedMemory(const PlanSection& section ABSL_ATTRIBUTE_LIFETIME_BOUND,
                BlocksByAddress& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : cursor_(section), blocks_(blocks) {}

  // Returns the block that is due, in use, and moves the cursor on; null, and the cursor stays, if
  // another size is due or the place is not mapped and free.
  Block* TakeDue(Bytes size) {
    const std::optional<Bytes> offset = cursor_.Due(size);
    if (segment_ == nullptr || !offset.has_value()) return nullptr;
    Block* block = segment_->blocks().TakeAt(segment_->reservation().address() + *offset, size);
    if (block == nullptr) return nullptr;
    cursor_.Next(size);
    ++use_.placed;
    blocks_.Add(block);
    return block;
  }

  // Returns the best fit among what lies free here, where others may soon be due, in use; null if
  // nothing fits.
  Block* TakeSpare(Bytes size) {
    Block* block = segment_ == nullptr ? nullptr : segment_->blocks().Take(size);
    if (block != nullptr) blocks_.Add(block);
    return block;
  }
  // Returns the growth after which TakeSpare would succeed.
  std::optional<Growth> PlanSpareGrowth(Bytes size) const {
    return segment_ == nullptr ? std::nullopt : segment_->blocks().holes().PlanGrowth(size);
  }

  // What has to be mapped so that all of [address, address + size) is.
  struct Missing {
    Bytes bytes = 0;
    Growth first;  // if any is missing: the part of it at the lowest address
  };
  // Returns nothing if something there is in use. REQUIRES: the segment is there.
  std::optional<Missing> MissingAt(DeviceAddress address, Bytes size) const;

  // Returns the next request's offset, if it has one.
  std::optional<Bytes> Next(Bytes size) { return cursor_.Next(size); }

  void Count(bool is_placed) { ++(is_placed ? use_.placed : use_.elsewhere); }

  // More than one granule: a segment of one is fixed.
  SegmentShape Shape(Bytes granularity) const {
    const Bytes size = RoundUp(cursor_.section().bytes, granularity);
    return {std::max(size, 2 * granularity), granularity, /*holds_one=*/false, /*is_planned=*/true};
  }
  // The segment of that shape; the group owns it.
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
