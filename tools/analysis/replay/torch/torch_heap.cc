// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_heap.h"

#include <algorithm>

#include "base/check.h"

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

}  // namespace

void TorchHeap::Use(TorchBlock& block, Bytes rounded) {
  const TorchPool& pool = *block.segment->lane->pool;
  if (pool.is_split && settings_.Splits(rounded, block.size, pool.is_small)) {
    lanes_.Put(*tiling_.CutAt(block, rounded));
  }
  block.state = State::kInUse;
}

void TorchHeap::Free(TorchBlock& block) {
  block.state = State::kFree;
  lanes_.Put(*tiling_.Merge(&block));
}

TorchBlock* TorchHeap::Carve(DeviceAddress address, Bytes size) {
  TorchBlock* block = segments_.BlockAt(address);
  if (block == nullptr || block->state != State::kFree) return nullptr;
  if (block->end() - address < size) return nullptr;
  lanes_.TakeOut(*block);
  if (address == block->address) return block;
  TorchBlock* rest = tiling_.CutAt(*block, address - block->address);
  lanes_.Put(*block);
  return rest;
}

TorchBlock* TorchHeap::AddSegment(TorchLane& lane, const AddressRange& range) {
  TorchSegment& segment = NewSegment(lane, range, 0);
  AddReserved(segment.range());
  return segment.first;
}

void TorchHeap::RemoveSegment(TorchSegment& segment) {
  MEMTRACE_CHECK(!segment.first->is_split());
  lanes_.TakeOut(*segment.first);
  if (segment.first->state == State::kFree) {
    reserved_ -= segment.size;
    addresses_.Released(segment.range());
  }
  tiling_.Uncover(segment);
  segments_.Remove(segment);
}

TorchBlock* TorchHeap::AddReservation(TorchLane& lane, const AddressRange& range, Bytes chunk) {
  TorchSegment& segment = NewSegment(lane, range, chunk);
  segment.first->state = State::kUnmapped;
  lanes_.Put(*segment.first);
  return segment.first;
}

TorchBlock* TorchHeap::Map(TorchBlock& unmapped, const AddressRange& range) {
  TorchBlock* block = Isolate(unmapped, range);
  block->state = State::kFree;
  AddReserved(range);
  block = tiling_.Merge(block);
  lanes_.Put(*block);
  return block;
}

void TorchHeap::Unmap(TorchBlock& free, const AddressRange& range) {
  TorchBlock* block = Isolate(free, range);
  block->state = State::kUnmapped;
  reserved_ -= range.size();
  block = tiling_.Merge(block);
  lanes_.Put(*block);
  if (!block->is_split()) RemoveSegment(*block->segment);
}

TorchSegment& TorchHeap::NewSegment(TorchLane& lane, const AddressRange& range, Bytes chunk) {
  DeviceAddress base = range.begin;
  while (segments_.HasOneAt(base)) base = addresses_.Unused(range.size());
  TorchSegment& segment = segments_.Add(lane, AddressRange::Of(base, range.size()), chunk);
  tiling_.Cover(segment);
  return segment;
}

TorchBlock* TorchHeap::Isolate(TorchBlock& block, const AddressRange& range) {
  lanes_.TakeOut(block);
  TorchBlock* isolated = &block;
  if (range.begin > block.address) {
    isolated = tiling_.CutAt(block, range.begin - block.address);
    lanes_.Put(block);
  }
  if (range.size() < isolated->size) lanes_.Put(*tiling_.CutAt(*isolated, range.size()));
  return isolated;
}

void TorchHeap::AddReserved(const AddressRange& range) {
  reserved_ += range.size();
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  addresses_.Mapped(range);
}

void TorchHeap::CheckInvariants() const {
  Bytes mapped = 0;
  segments_.ForEach([&](const TorchSegment& segment) { mapped += CheckSegment(segment); });
  MEMTRACE_CHECK_EQ(mapped, reserved_);
}

Bytes TorchHeap::CheckSegment(const TorchSegment& segment) const {
  Bytes mapped = 0;
  DeviceAddress next = segment.base;
  for (const TorchBlock* block = segment.first; block != nullptr; block = block->behind) {
    MEMTRACE_CHECK_EQ(block->address, next);
    next = block->end();
    mapped += block->state == State::kUnmapped ? 0 : block->size;
    MEMTRACE_CHECK_EQ(lanes_.Lists(*block), block->state == State::kFree);
    MEMTRACE_CHECK(block->behind == nullptr || block->behind->before == block);
  }
  MEMTRACE_CHECK_EQ(next, segment.base + segment.size);
  return mapped;
}

}  // namespace memtrace::replay
