// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_

#include <memory>
#include <optional>
#include <vector>

#include "allocator/expandable_segment.h"
#include "allocator/segment_key.h"
#include "allocator/units.h"

namespace memtrace {

// All segments of one key, in the order they were reserved. Nearly always one: another is reserved
// only when blocks in use cut the first so badly that no run of its addresses is long enough.
//
// Thread rule: none, the owner's lock guards it.
class SegmentGroup {
 public:
  explicit SegmentGroup(const SegmentKey& key) : key_(key) {}

  // A block from the first segment that has a fit; null if none has.
  Block* Take(Bytes size);

  // The growth of any segment that maps the fewest granules, the oldest among equals.
  std::optional<ExpandableSegment::Growth> PlanGrowth(Bytes size) const;

  // The largest request that would fit if the driver had `available` more bytes, and room for one
  // more reservation of `reservation` bytes.
  Bytes Obtainable(Bytes available, Bytes reservation) const;

  void Add(std::unique_ptr<ExpandableSegment> segment) { segments_.push_back(std::move(segment)); }

  const SegmentKey& key() const { return key_; }
  const std::vector<std::unique_ptr<ExpandableSegment>>& segments() const { return segments_; }

 private:
  const SegmentKey key_;
  std::vector<std::unique_ptr<ExpandableSegment>> segments_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_GROUP_H_
