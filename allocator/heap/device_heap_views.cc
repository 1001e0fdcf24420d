// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What DeviceHeap tells about itself.
#include <algorithm>

#include "allocator/heap/device_heap.h"
#include "allocator/heap/snapshot.h"
#include "base/check.h"

namespace memtrace {

AllocatorLedger DeviceHeap::ledger() {
  MergeRecent();
  return SumUp();
}

// Without what was freed recently.
AllocatorLedger DeviceHeap::SumUp() const {
  AllocatorLedger ledger;
  ledger.reserved = accounting_.reserved();
  const Usage& usage = accounting_.usage();
  ledger.live_requested = static_cast<Bytes>(usage.InUse(kRequested));
  ledger.live_allocated = static_cast<Bytes>(usage.InUse(kBytes));
  ledger.stream_wait = static_cast<Bytes>(usage.Waiting(kBytes));
  for (const auto& group : groups_.all()) {
    const Bytes reclaimable = groups_.Reclaimable(*group);
    const bool is_pinned = group->pool() != nullptr && group->pool()->pinned();
    ledger.cached += reclaimable;
    for (const auto& segment : group->segments().all()) {
      (is_pinned ? ledger.pinned : ledger.holes) += segment->blocks().free().bytes();
      ledger.largest_hole = std::max(ledger.largest_hole, segment->blocks().free().largest());
    }
    if (!is_pinned) ledger.holes -= reclaimable;
  }
  return ledger;
}

// Walks the segment: asked for when memory is shared with another process, not per allocation.
std::optional<BlockRange> DeviceHeap::BaseAllocation(DeviceAddress address) const {
  std::optional<BlockRange> range;
  groups_.ForEachSegment([&](const ExpandableSegment& segment) {
    if (!segment.reservation().Contains(address)) return;
    const Block* block = segment.blocks().first();
    while (block->end() <= address) block = block->next;
    if (block->is(Block::State::kAllocated)) range = {block->address, block->size};
  });
  return range;
}

std::vector<SegmentView> DeviceHeap::Snapshot() {
  MergeRecent();
  std::vector<SegmentView> views;
  groups_.ForEachSegment([&](const ExpandableSegment& segment) { AppendViews(segment, views); });
  std::sort(views.begin(), views.end(),
            [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
  return views;
}

void DeviceHeap::CheckInvariants() const {
  Bytes mapped = 0;
  Bytes allocated = 0;
  Bytes recent = 0;
  for (const auto& group : groups_.all()) {
    group->CheckInvariants();
    group->blocks().ForEachInUse([&](const Block* block) { allocated += block->size; });
    for (const auto& segment : group->segments().all()) {
      mapped += segment->reservation().mapped();
      recent += segment->blocks().recent().bytes();
    }
  }
  const AllocatorLedger sums = SumUp();
  MEMTRACE_CHECK_EQ(sums.reserved, mapped);
  MEMTRACE_CHECK_EQ(sums.live_allocated, allocated);
  MEMTRACE_CHECK_LE(sums.live_requested, sums.live_allocated);
  MEMTRACE_CHECK_EQ(
      sums.live_allocated + sums.stream_wait + sums.cached + sums.holes + sums.pinned + recent,
      sums.reserved);
}

}  // namespace memtrace
