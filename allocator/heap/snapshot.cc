// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/snapshot.h"

#include <algorithm>

namespace memtrace {
namespace {

BlockView::State StateOf(const Block& block) {
  switch (block.state) {
    case Block::State::kAllocated:
    case Block::State::kOnHost:
      return BlockView::State::kAllocated;
    case Block::State::kPendingFree:
      return BlockView::State::kPendingFree;
    case Block::State::kFree:
    case Block::State::kRecentlyFreed:
    case Block::State::kLeaving:
    case Block::State::kLent:
    case Block::State::kBorrowed:
    case Block::State::kUnmapped:
    case Block::State::kLeftOnHost:
      break;
  }
  return BlockView::State::kFree;
}

// Appends one view for each maximal mapped range of `segment`, in address order.
void AppendViews(const ExpandableSegment& segment, std::vector<SegmentView>& views) {
  if (segment.sleep().is_asleep()) return;
  const SegmentKey& key = segment.key();
  bool after_hole = true;
  for (const Block* block = segment.blocks().first(); block != nullptr; block = block->next) {
    const bool is_hole = block->is(Block::State::kUnmapped) || block->is(Block::State::kBorrowed);
    if (!is_hole) {
      if (after_hole) {
        views.push_back(
            {block->address, 0, key.stream, key.pool, key.small, !segment.shape().is_fixed(), {}});
      }
      SegmentView& view = views.back();
      view.size += block->size;
      view.blocks.push_back(
          {block->address, block->size, block->requested, StateOf(*block), block->context});
    }
    after_hole = is_hole;
  }
}

}  // namespace

std::vector<SegmentView> SnapshotOf(const SegmentGroups& groups) {
  std::vector<SegmentView> views;
  groups.ForEachSegment([&](const ExpandableSegment& segment) { AppendViews(segment, views); });
  std::sort(views.begin(), views.end(),
            [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
  return views;
}

}  // namespace memtrace
