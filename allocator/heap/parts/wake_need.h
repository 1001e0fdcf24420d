// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_WAKE_NEED_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_WAKE_NEED_H_

#include "allocator/pools/segment_group.h"
#include "base/units.h"

namespace memtrace {

// Returns which blocks of the group get memory at a wake: a graph's replay uses the free memory of
// its pool as well.
inline SegmentSleep::Wanted WantedByWake(const SegmentGroup& group) {
  const bool is_pinned = group.pool() != nullptr && group.pool()->pinned();
  return is_pinned ? SegmentSleep::Wanted::kAll : SegmentSleep::Wanted::kInUse;
}

// Returns the bytes that a wake maps for the group: 0 if it does not sleep.
inline Bytes NeedOfWake(const SegmentGroup& group) {
  Bytes sum = 0;
  for (const auto& segment : group.segments().all()) {
    if (segment->sleep().is_asleep()) sum += segment->sleep().Missing(WantedByWake(group));
  }
  return sum;
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_WAKE_NEED_H_
