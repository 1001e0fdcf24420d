// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_cache.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

// True for a free block that is a whole segment which does not expand.
bool IsReleasable(const TorchBlock& block) {
  return !block.is_split() && !block.segment->is_expandable();
}

std::vector<TorchBlock*> FreeBlocks(const TorchLane& lane) {
  std::vector<TorchBlock*> blocks;
  blocks.reserve(lane.free.size());
  for (const FreeKey& key : lane.free) blocks.push_back(key.block);
  return blocks;
}

// Returns the default pool's large segments that are free.
std::vector<TorchBlock*> Collectable(TorchLanes& lanes) {
  std::vector<TorchBlock*> blocks;
  lanes.ForEach([&blocks](TorchLane& lane) {
    if (lane.pool->number != 0 || lane.pool->is_small) return;
    for (TorchBlock* block : FreeBlocks(lane)) {
      if (IsReleasable(*block)) blocks.push_back(block);
    }
  });
  return blocks;
}

uint64_t AgeOf(const TorchBlock& block) {
  return block.segment->lane->pool->searches - block.free_since;
}

double MeanAge(const std::vector<TorchBlock*>& blocks) {
  uint64_t ages = 0;
  for (const TorchBlock* block : blocks) ages += AgeOf(*block);
  return static_cast<double>(ages) / static_cast<double>(blocks.size());
}

AddressRange WholeChunks(const TorchBlock& free) {
  const TorchSegment& segment = *free.segment;
  const DeviceAddress begin = segment.base + RoundUp(free.address - segment.base, segment.chunk);
  const DeviceAddress end = segment.base + RoundDown(free.end() - segment.base, segment.chunk);
  return {begin, std::max(begin, end)};
}

}  // namespace

void TorchCache::Empty() {
  heap_.lanes().ForEach([this](TorchLane& lane) {
    if (lane.pool->number == 0) ReleaseLane(lane);
  });
}

void TorchCache::ReleaseLane(TorchLane& lane) {
  for (TorchBlock* block : FreeBlocks(lane)) {
    if (block->segment->is_expandable()) {
      Unmap(*block, WholeChunks(*block));
    } else if (IsReleasable(*block)) {
      ReleaseSegment(*block->segment);
    }
  }
}

// Gives back one free block that is kept apart and large enough, else several of the stream, the
// largest first, until they add up to it.
bool TorchCache::ReleaseOversize(TorchLane& lane, Bytes rounded) {
  const Bytes max_split = settings_.max_split;
  if (max_split == TorchSettings::kNoLimit) return false;
  const Bytes wanted = std::max(rounded, max_split);
  const auto found = lane.free.lower_bound({.size = wanted});
  if (found != lane.free.end() && !found->block->segment->is_expandable()) {
    ReleaseSegment(*found->block->segment);
    return true;
  }
  std::vector<TorchBlock*> smaller = FreeBlocks(lane);
  smaller.resize(static_cast<size_t>(std::distance(lane.free.begin(), found)));
  Bytes released = 0;
  while (!smaller.empty() && released < wanted && smaller.back()->size >= max_split) {
    TorchBlock& block = *smaller.back();
    smaller.pop_back();
    if (block.segment->is_expandable()) continue;
    released += block.size;
    ReleaseSegment(*block.segment);
  }
  return released >= wanted;
}

// Gives back blocks that were unused for longer than the average, and again until it is enough.
void TorchCache::CollectGarbage(Bytes threshold) {
  if (heap_.reserved() <= threshold) return;
  const Bytes wanted = heap_.reserved() - threshold;
  std::vector<TorchBlock*> blocks = Collectable(heap_.lanes());
  Bytes released = 0;
  size_t before = 0;
  while (released < wanted && !blocks.empty() && blocks.size() != before) {
    before = blocks.size();
    const double mean = MeanAge(blocks);
    std::vector<TorchBlock*> kept;
    for (TorchBlock* block : blocks) {
      if (static_cast<double>(AgeOf(*block)) < mean) {
        kept.push_back(block);
      } else {
        released += block->size;
        ReleaseSegment(*block->segment);
      }
    }
    blocks.swap(kept);
  }
}

void TorchCache::Release(const AddressRange& range) {
  TorchBlock* block = heap_.segments().BlockAt(range.begin);
  if (block == nullptr || block->state != State::kFree) return;
  if (block->end() - range.begin < range.size()) return;
  if (block->segment->is_expandable()) return Unmap(*block, range);
  if (!block->is_split() && block->size == range.size()) ReleaseSegment(*block->segment);
}

void TorchCache::ReleaseSegment(TorchSegment& segment) {
  ++frees_;
  heap_.RemoveSegment(segment);
}

void TorchCache::Unmap(TorchBlock& block, const AddressRange& range) {
  if (range.size() == 0) return;
  unmaps_ += range.size() / block.segment->chunk;
  heap_.Unmap(block, range);
}

}  // namespace memtrace::replay
