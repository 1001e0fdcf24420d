// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/snapshot_start.h"

#include <algorithm>

namespace memtrace::interchange {

SnapshotStart::SnapshotStart(const SnapshotDevice& device) {
  for (const SnapshotSegment& segment : device.segments) {
    if (device.trace_is_cut) break;
    mapped_[segment.address] = {segment.address + segment.size, segment.stream};
    for (const SnapshotBlock& block : segment.blocks) blocks_[block.address] = block;
  }
  const std::vector<SnapshotEntry>& trace = device.trace;
  const bool requests_are_told = std::any_of(
      trace.begin(), trace.end(),
      [](const SnapshotEntry& entry) { return entry.action == SnapshotAction::kFreeRequested; });
  for (size_t i = trace.size(); i-- > 0;) Undo(trace[i], i, requests_are_told);
  FindExpandable(device);
}

void SnapshotStart::FindExpandable(const SnapshotDevice& device) {
  std::vector<Range> parts;
  const auto add = [&parts](uint64_t address, uint64_t size) {
    if (address + size > address) parts.push_back({address, address + size});
  };
  for (const SnapshotSegment& segment : device.segments)
    if (segment.is_expandable) add(segment.address, segment.size);
  for (const SnapshotEntry& entry : device.trace)
    if (entry.is_expandable) add(entry.address, entry.size);
  std::sort(parts.begin(), parts.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (const Range& part : parts) {
    if (expandable_.empty() || part.begin > expandable_.back().end) {
      expandable_.push_back(part);
    } else {
      expandable_.back().end = std::max(expandable_.back().end, part.end);
    }
  }
}

const SnapshotBlock* SnapshotStart::FinalBlock(size_t entry) const {
  const auto found = final_blocks_.find(entry);
  return found == final_blocks_.end() ? nullptr : &found->second;
}

void SnapshotStart::Undo(const SnapshotEntry& entry, size_t index, bool requests_are_told) {
  switch (entry.action) {
    case SnapshotAction::kAllocate: {
      const auto block = blocks_.find(entry.address);
      if (block == blocks_.end()) return;
      // Only a block that the snapshot itself shows has a size; one that only a free mentions has
      // none.
      if (block->second.size != 0) final_blocks_.emplace(index, block->second);
      blocks_.erase(block);
      return;
    }
    case SnapshotAction::kFreeCompleted:
      blocks_[entry.address] = {.address = entry.address,
                                .size = 0,  // not stated
                                .requested = entry.size,
                                .stream = entry.stream,
                                .pool = 0,
                                .waiting = requests_are_told,
                                .frames = {}};
      return;
    case SnapshotAction::kFreeRequested: {
      SnapshotBlock& block = blocks_[entry.address];
      block.address = entry.address;
      block.waiting = false;
      if (block.requested == 0) block.requested = entry.size;
      return;
    }
    case SnapshotAction::kMap:
      Unmap(entry.address, entry.address + entry.size);
      return;
    case SnapshotAction::kUnmap:
      mapped_[entry.address] = {entry.address + entry.size, entry.stream};
      return;
    case SnapshotAction::kOutOfMemory:
      return;
  }
}

// Cuts [begin, end) out of what is mapped.
void SnapshotStart::Unmap(uint64_t begin, uint64_t end) {
  auto range = mapped_.upper_bound(begin);
  if (range != mapped_.begin()) --range;
  while (range != mapped_.end() && range->first < end) {
    const auto [first, mapping] = *range;
    if (mapping.end <= begin) {
      ++range;
      continue;
    }
    mapped_.erase(range);
    if (first < begin) mapped_[first] = {begin, mapping.stream};
    if (mapping.end > end) mapped_[end] = {mapping.end, mapping.stream};
    range = mapped_.upper_bound(begin);
  }
}

}  // namespace memtrace::interchange
