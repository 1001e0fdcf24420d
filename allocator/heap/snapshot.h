// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_
#define MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_

#include <vector>

#include "allocator/heap/caching_allocator.h"
#include "allocator/segment/expandable_segment.h"

namespace memtrace {

// Appends one view for each maximal mapped range of `segment`, in address order.
void AppendViews(const ExpandableSegment& segment, std::vector<SegmentView>& views);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_SNAPSHOT_H_
