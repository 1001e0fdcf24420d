// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_
#define MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_

#include <vector>

#include "allocator/heap/parts/views.h"
#include "allocator/pools/segment_groups.h"

namespace memtrace {

// Returns a view of each maximal mapped range of the segments, in address order. REQUIRES: recently
// freed blocks are merged.
std::vector<SegmentView> SnapshotOf(const SegmentGroups& groups);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_
