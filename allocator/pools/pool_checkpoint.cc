// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/pool_checkpoint.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace memtrace {
namespace {

template <typename Visit>
void ForEachSegmentOf(const SegmentGroups& groups, const PoolId& pool, Visit visit) {
  groups.ForEachSegment([&](ExpandableSegment& segment) {
    if (segment.key().pool == pool) visit(segment);
  });
}

bool IsUsable(const Block& block) {
  return block.is(Block::State::kFree) ||
         (block.is(Block::State::kAllocated) && block.recorded_streams.empty());
}

// Returns the ranges where blocks of the pool can be placed once all blocks in use are free, in
// ascending order: mapped memory that no other stream may still be using.
std::vector<AddressRange> UsableRuns(const SegmentGroups& groups, const PoolId& pool) {
  std::vector<AddressRange> runs;
  ForEachSegmentOf(groups, pool, [&](const ExpandableSegment& segment) {
    bool goes_on = false;
    for (const Block* block = segment.blocks().first(); block != nullptr; block = block->next) {
      const bool usable = IsUsable(*block);
      if (usable && !goes_on) runs.push_back({block->address, block->address});
      if (usable) runs.back().end = block->end();
      goes_on = usable;
    }
  });
  std::sort(runs.begin(), runs.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return runs;
}

bool Holds(const std::vector<AddressRange>& runs, const AddressRange& block) {
  const auto above =
      std::upper_bound(runs.begin(), runs.end(), block.begin,
                       [](DeviceAddress at, const AddressRange& run) { return at < run.begin; });
  return above != runs.begin() && std::prev(above)->Contains(block);
}

}  // namespace

PoolCheckpoint MakeCheckpoint(const SegmentGroups& groups, const Pool& pool) {
  PoolCheckpoint checkpoint{.pool = pool.id, .blocks = {}};
  ForEachSegmentOf(groups, pool.id, [&](const ExpandableSegment& segment) {
    for (const Block* block = segment.blocks().first(); block != nullptr; block = block->next) {
      if (!block->is(Block::State::kAllocated)) continue;
      checkpoint.blocks.push_back({block->address, block->size, block->requested, block->context});
    }
  });
  // In descending order, the free range that is cut next is always the first one of its segment.
  std::sort(checkpoint.blocks.begin(), checkpoint.blocks.end(),
            [](const auto& a, const auto& b) { return a.address > b.address; });
  return checkpoint;
}

absl::Status CheckCanRestore(const SegmentGroups& groups, const PoolCheckpoint& checkpoint) {
  bool is_asleep = false;
  ForEachSegmentOf(groups, checkpoint.pool, [&](const ExpandableSegment& segment) {
    is_asleep = is_asleep || segment.sleep().is_asleep();
  });
  if (is_asleep) return absl::FailedPreconditionError("memory of the pool is asleep");
  const std::vector<AddressRange> runs = UsableRuns(groups, checkpoint.pool);
  for (const auto& block : checkpoint.blocks) {
    if (Holds(runs, AddressRange::Of(block.address, block.size))) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the pool no longer has the memory of its checkpoint at ",
                     block.address.ToString(), ", or another stream still uses it"));
  }
  return absl::OkStatus();
}

}  // namespace memtrace
