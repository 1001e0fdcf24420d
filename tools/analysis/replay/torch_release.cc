// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// How TorchPolicy gives memory back to the driver.
#include <iterator>
#include <vector>

#include "tools/analysis/replay/torch_policy.h"

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

// Whole segments that lie free and do not expand.
bool IsReleasable(const TorchBlock& block) {
  return !block.is_split() && !block.segment->is_expandable();
}

std::vector<TorchBlock*> FreeBlocks(const TorchLane& lane) {
  std::vector<TorchBlock*> blocks;
  blocks.reserve(lane.free.size());
  for (const FreeKey& key : lane.free) blocks.push_back(key.block);
  return blocks;
}

}  // namespace

void TorchPolicy::EmptyCache() { ReleaseCached(); }

// Everything that waits for streams is waited for first. Private pools are kept: a graph may be
// replayed.
void TorchPolicy::ReleaseCached() {
  for (const BlockNumber number : waiting_) GiveBack(live_[number]);
  waiting_.clear();
  heap_.ForEachLane([this](TorchLane& lane) {
    if (lane.pool->number == 0) ReleaseLane(lane);
  });
}

void TorchPolicy::ReleaseLane(TorchLane& lane) {
  for (TorchBlock* block : FreeBlocks(lane)) {
    if (block->segment->is_expandable()) {
      UnmapPart(*block, TorchHeap::WholeChunks(*block));
    } else if (IsReleasable(*block)) {
      ReleaseSegment(*block->segment);
    }
  }
}

void TorchPolicy::ReleaseSegment(TorchSegment& segment) {
  ++calls_.frees;
  heap_.RemoveSegment(segment);
}

void TorchPolicy::UnmapPart(TorchBlock& block, const AddressRange& range) {
  if (range.size == 0) return;
  calls_.unmaps += range.size / block.segment->chunk;
  heap_.Unmap(block, range);
}

// With max_split_size_mb: one free block that is kept apart and large enough, else several of the
// stream, the largest first, until they add up to it.
bool TorchPolicy::ReleaseOversize(TorchLane& lane, Bytes rounded) {
  const Bytes max_split = options_.settings.max_split;
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

// Of the default pool's large segments that lie free, those not used for longer than the others on
// average, and again until enough is given back.
void TorchPolicy::CollectGarbage() {
  const auto threshold =
      static_cast<Bytes>(options_.settings.gc_threshold * static_cast<double>(limit()));
  if (heap_.reserved() <= threshold) return;
  const Bytes wanted = heap_.reserved() - threshold;
  std::vector<TorchBlock*> blocks;
  heap_.ForEachLane([&blocks](TorchLane& lane) {
    if (lane.pool->number != 0 || lane.pool->is_small) return;
    for (TorchBlock* block : FreeBlocks(lane)) {
      if (IsReleasable(*block)) blocks.push_back(block);
    }
  });
  const auto age = [](const TorchBlock& block) {
    return block.segment->lane->pool->searches - block.free_since;
  };
  Bytes released = 0;
  size_t before = 0;
  while (released < wanted && !blocks.empty() && blocks.size() != before) {
    before = blocks.size();
    uint64_t ages = 0;
    for (const TorchBlock* block : blocks) ages += age(*block);
    const double mean = static_cast<double>(ages) / static_cast<double>(before);
    std::vector<TorchBlock*> kept;
    for (TorchBlock* block : blocks) {
      if (static_cast<double>(age(*block)) < mean) {
        kept.push_back(block);
      } else {
        released += block->size;
        ReleaseSegment(*block->segment);
      }
    }
    blocks.swap(kept);
  }
}

std::optional<Placed> TorchPolicy::AllocateAt(const Request& request, DeviceAddress address,
                                              std::optional<Bytes> occupied) {
  const Bytes rounded = occupied.value_or(options_.settings.Rounded(request.bytes));
  if (rounded == 0) return std::nullopt;
  return Finish(heap_.Carve(address, rounded), rounded);
}

void TorchPolicy::AddRecorded(const AddressRange& range, StreamId stream, uint32_t pool,
                              bool is_small, bool is_expandable) {
  TorchLane& lane = heap_.Lane(pool, is_small, stream);
  TorchBlock* there = heap_.BlockAt(range.address);
  if (!is_expandable) {
    if (there == nullptr) heap_.PutFree(*heap_.AddSegment(lane, range));
    return NoteReserved();
  }
  const Bytes chunk = options_.settings.ChunkFor(is_small);
  if (there == nullptr || there->segment->lane != &lane) {
    if (there != nullptr && there->segment->base == range.address) return;
    there = heap_.AddReservation(lane, {range.address, ReservationSize(chunk)}, chunk);
  }
  const Bytes before = range.address - there->address;
  const bool fits = there->state == State::kUnmapped && before < there->size &&
                    range.size <= there->size - before;
  if (fits) heap_.Map(before == 0 ? *there : *heap_.CutUnmapped(*there, before), range.size);
  NoteReserved();
}

bool TorchPolicy::RemoveRecorded(const AddressRange& range) {
  TorchBlock* block = heap_.BlockAt(range.address);
  if (block == nullptr || block->state != State::kFree) return false;
  if (block->end() - range.address < range.size) return false;
  if (block->segment->is_expandable()) {
    UnmapPart(*block, range);
    return true;
  }
  const bool is_whole = !block->is_split() && block->size == range.size;
  if (is_whole) ReleaseSegment(*block->segment);
  return is_whole;
}

}  // namespace memtrace::replay
