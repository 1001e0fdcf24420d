// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_lanes.h"

#include <iterator>

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

// Returns the size that counts when fits are compared: a block of an expandable segment could grow.
Bytes SizeIfGrown(const TorchBlock& block) {
  const TorchBlock* behind = block.behind;
  return block.size + (behind != nullptr && behind->state == State::kUnmapped ? behind->size : 0);
}

using FreeList = absl::btree_set<FreeKey>;

// The best fit goes on to larger blocks as long as each has less room to grow into.
FreeList::const_iterator FindLeastRoom(const FreeList& free, FreeList::const_iterator found) {
  auto next = std::next(found);
  while (found->block->is_split() && next != free.end() &&
         SizeIfGrown(*next->block) < SizeIfGrown(*found->block)) {
    found = next++;
  }
  return found;
}

FreeList::const_iterator SkipExpandable(const FreeList& free, FreeList::const_iterator found) {
  while (found != free.end() && found->block->segment->is_expandable()) ++found;
  return found;
}

}  // namespace

TorchLane& TorchLanes::At(uint32_t pool, bool is_small, StreamId stream) {
  const LaneKey key(pool, is_small, stream);
  if (const auto known = lanes_.find(key); known != lanes_.end()) return known->second;
  TorchPool& owner = pools_[{pool, is_small}];
  owner.number = pool;
  owner.is_small = is_small;
  TorchLane& lane = lanes_[key];
  lane.pool = &owner;
  lane.stream = stream;
  return lane;
}

TorchLane& TorchLanes::Of(const Request& request) {
  const bool is_small = TorchSettings::IsSmall(settings_.Rounded(request.bytes));
  return At(request.pool, is_small, request.stream);
}

void TorchLanes::ForEach(const std::function<void(TorchLane&)>& visit) {
  for (auto& [key, lane] : lanes_) visit(lane);
}

TorchBlock* TorchLanes::Find(const TorchLane& lane, Bytes rounded) const {
  auto found = lane.free.lower_bound({.size = rounded});
  if (found == lane.free.end()) return nullptr;
  if (found->block->segment->is_expandable()) {
    found = settings_.expands ? FindLeastRoom(lane.free, found) : SkipExpandable(lane.free, found);
    if (found == lane.free.end()) return nullptr;
  }
  return settings_.Suits(rounded, found->size) ? found->block : nullptr;
}

void TorchLanes::Put(TorchBlock& block) {
  TorchLane& lane = *block.segment->lane;
  if (block.state == State::kUnmapped) {
    lane.unmapped[{block.address, block.segment}] = &block;
    return;
  }
  block.free_since = lane.pool->searches;
  lane.free.insert(KeyOf(block));
}

void TorchLanes::TakeOut(TorchBlock& block) {
  TorchLane& lane = *block.segment->lane;
  if (block.state == State::kUnmapped) {
    lane.unmapped.erase({block.address, block.segment});
  } else {
    lane.free.erase(KeyOf(block));
  }
}

bool TorchLanes::Lists(const TorchBlock& block) const {
  return block.segment->lane->free.contains(KeyOf(const_cast<TorchBlock&>(block)));
}

FreeKey TorchLanes::KeyOf(TorchBlock& block) const {
  const uint32_t age = settings_.oldest_segment_first ? block.segment->ordinal : 0;
  return {block.size, age, block.address, &block};
}

}  // namespace memtrace::replay
