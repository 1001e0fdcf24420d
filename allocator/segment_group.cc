// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment_group.h"

#include <algorithm>

namespace memtrace {

Block* SegmentGroup::Take(Bytes size) {
  for (const auto& segment : segments_) {
    if (Block* block = segment->Take(size)) return block;
  }
  return nullptr;
}

std::optional<ExpandableSegment::Growth> SegmentGroup::PlanGrowth(Bytes size) const {
  std::optional<ExpandableSegment::Growth> best;
  for (const auto& segment : segments_) {
    const auto growth = segment->PlanGrowth(size);
    if (growth.has_value() && (!best.has_value() || growth->size < best->size)) best = growth;
  }
  return best;
}

Bytes SegmentGroup::Obtainable(Bytes available, Bytes reservation) const {
  Bytes most = std::min(available, reservation);
  for (const auto& segment : segments_) most = std::max(most, segment->Obtainable(available));
  return most;
}

}  // namespace memtrace
