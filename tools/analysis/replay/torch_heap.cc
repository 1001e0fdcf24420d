// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch_heap.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

// What a block of an expandable segment counts as in a comparison of fits: it could grow.
Bytes CouldBe(const TorchBlock& block) {
  const TorchBlock* behind = block.behind;
  return block.size + (behind != nullptr && behind->state == State::kUnmapped ? behind->size : 0);
}

using FreeList = absl::btree_set<FreeKey>;

// The best fit goes on to larger blocks as long as each has less room to grow into.
FreeList::const_iterator LeastRoom(const FreeList& free, FreeList::const_iterator found) {
  auto next = std::next(found);
  while (found->block->is_split() && next != free.end() &&
         CouldBe(*next->block) < CouldBe(*found->block)) {
    found = next++;
  }
  return found;
}

FreeList::const_iterator NotExpandable(const FreeList& free, FreeList::const_iterator found) {
  while (found != free.end() && found->block->segment->is_expandable()) ++found;
  return found;
}

}  // namespace

TorchLane& TorchHeap::Lane(uint32_t pool, bool is_small, StreamId stream) {
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

TorchBlock* TorchHeap::Find(const TorchLane& lane, Bytes rounded) const {
  auto found = lane.free.lower_bound({.size = rounded});
  if (found == lane.free.end()) return nullptr;
  if (found->block->segment->is_expandable()) {
    found = settings_.expands ? LeastRoom(lane.free, found) : NotExpandable(lane.free, found);
    if (found == lane.free.end()) return nullptr;
  }
  return settings_.Suits(rounded, found->size) ? found->block : nullptr;
}

void TorchHeap::Use(TorchBlock& block, Bytes rounded) {
  const TorchPool& pool = *block.segment->lane->pool;
  if (pool.is_split && settings_.Splits(rounded, block.size, pool.is_small)) {
    PutFree(*CutAt(block, rounded));
  }
  block.state = State::kInUse;
}

void TorchHeap::Free(TorchBlock& block) {
  block.state = State::kFree;
  PutFree(*Merge(&block));
}

TorchBlock* TorchHeap::AddSegment(TorchLane& lane, const AddressRange& range) {
  TorchSegment& segment = NewSegment(lane, range, 0);
  segment.first->state = State::kFree;
  reserved_ += range.size;
  addresses_.Mapped({segment.base, range.size});
  return segment.first;
}

void TorchHeap::RemoveSegment(TorchSegment& segment) {
  TorchBlock* block = segment.first;
  MEMTRACE_CHECK(!block->is_split());
  if (block->state == State::kFree) {
    TakeOut(*block);
    reserved_ -= segment.size;
    addresses_.Released({segment.base, segment.size});
  } else {
    segment.lane->unmapped.erase({block->address, &segment});
    ++reservations_given_up_;
  }
  Drop(block);
  segments_.erase(segment.base);
}

TorchBlock* TorchHeap::AddReservation(TorchLane& lane, const AddressRange& range, Bytes chunk) {
  TorchSegment& segment = NewSegment(lane, range, chunk);
  segment.first->state = State::kUnmapped;
  PutUnmapped(*segment.first);
  ++reservations_;
  return segment.first;
}

TorchBlock* TorchHeap::Map(TorchBlock& unmapped, Bytes size) {
  unmapped.segment->lane->unmapped.erase({unmapped.address, unmapped.segment});
  if (size < unmapped.size) PutUnmapped(*CutAt(unmapped, size));
  unmapped.state = State::kFree;
  reserved_ += size;
  addresses_.Mapped({unmapped.address, size});
  TorchBlock* merged = Merge(&unmapped);
  PutFree(*merged);
  return merged;
}

TorchBlock* TorchHeap::CutUnmapped(TorchBlock& unmapped, Bytes size) {
  TorchBlock* rest = CutAt(unmapped, size);
  PutUnmapped(*rest);
  return rest;
}

AddressRange TorchHeap::WholeChunks(const TorchBlock& free) {
  const TorchSegment& segment = *free.segment;
  const DeviceAddress begin = segment.base + RoundUp(free.address - segment.base, segment.chunk);
  const DeviceAddress end = segment.base + RoundDown(free.end() - segment.base, segment.chunk);
  return {begin, end > begin ? end - begin : 0};
}

void TorchHeap::Unmap(TorchBlock& free, const AddressRange& range) {
  TakeOut(free);
  TorchBlock* block = &free;
  if (range.address > block->address) {
    TorchBlock* rest = CutAt(*block, range.address - block->address);
    PutFree(*block);
    block = rest;
  }
  if (range.size < block->size) PutFree(*CutAt(*block, range.size));
  block->state = State::kUnmapped;
  reserved_ -= range.size;
  block = Merge(block);
  PutUnmapped(*block);
  if (!block->is_split()) RemoveSegment(*block->segment);
}

FreeKey TorchHeap::KeyOf(TorchBlock& block) const {
  const uint32_t age = settings_.oldest_segment_first ? block.segment->ordinal : 0;
  return {block.size, age, block.address, &block};
}

void TorchHeap::PutFree(TorchBlock& block) {
  TorchLane& lane = *block.segment->lane;
  block.free_since = lane.pool->searches;
  lane.free.insert(KeyOf(block));
}

void TorchHeap::TakeOut(TorchBlock& block) { block.segment->lane->free.erase(KeyOf(block)); }

void TorchHeap::PutUnmapped(TorchBlock& block) {
  block.segment->lane->unmapped[{block.address, block.segment}] = &block;
}

void TorchHeap::ForEachLane(const std::function<void(TorchLane&)>& visit) {
  for (auto& [key, lane] : lanes_) visit(lane);
}

TorchSegment* TorchHeap::SegmentAt(DeviceAddress address) {
  const auto behind = segments_.upper_bound(address);
  if (behind == segments_.begin()) return nullptr;
  TorchSegment& segment = *std::prev(behind)->second;
  return address - segment.base < segment.size ? &segment : nullptr;
}

TorchBlock* TorchHeap::BlockAt(DeviceAddress address) {
  TorchSegment* segment = SegmentAt(address);
  TorchBlock* block = segment == nullptr ? nullptr : segment->first;
  while (block != nullptr && block->end() <= address) block = block->behind;
  return block;
}

bool TorchHeap::IsMapped(DeviceAddress address) {
  const TorchBlock* block = BlockAt(address);
  return block != nullptr && block->state != State::kUnmapped;
}

TorchBlock* TorchHeap::Carve(DeviceAddress address, Bytes size) {
  TorchBlock* block = BlockAt(address);
  if (block == nullptr || block->state != State::kFree) return nullptr;
  if (block->end() - address < size) return nullptr;
  TakeOut(*block);
  if (address == block->address) return block;
  TorchBlock* rest = CutAt(*block, address - block->address);
  PutFree(*block);
  return rest;
}

TorchBlock* TorchHeap::NewBlock(const TorchBlock& like) {
  if (spare_blocks_.empty()) return &blocks_.emplace_back(like);
  TorchBlock* block = spare_blocks_.back();
  spare_blocks_.pop_back();
  *block = like;
  return block;
}

void TorchHeap::Drop(TorchBlock* block) { spare_blocks_.push_back(block); }

TorchSegment& TorchHeap::NewSegment(TorchLane& lane, const AddressRange& range, Bytes chunk) {
  DeviceAddress base = range.address;
  while (segments_.contains(base)) base = addresses_.Unused(range.size);
  auto segment = std::make_unique<TorchSegment>();
  segment->base = base;
  segment->size = range.size;
  segment->chunk = chunk;
  segment->ordinal = next_ordinal_++;
  segment->lane = &lane;
  segment->first = NewBlock({.address = base, .size = range.size, .segment = segment.get()});
  return *segments_.emplace(base, std::move(segment)).first->second;
}

TorchBlock* TorchHeap::CutAt(TorchBlock& block, Bytes size) {
  TorchBlock* rest = NewBlock(block);
  rest->address += size;
  rest->size -= size;
  rest->before = &block;
  if (rest->behind != nullptr) rest->behind->before = rest;
  block.size = size;
  block.behind = rest;
  return rest;
}

TorchBlock* TorchHeap::Merge(TorchBlock* block) {
  TorchBlock* behind = block->behind;
  if (behind != nullptr && behind->state == block->state) Join(*block, behind);
  TorchBlock* before = block->before;
  if (before == nullptr || before->state != block->state) return block;
  if (before->state == State::kFree) {
    TakeOut(*before);
  } else {
    before->segment->lane->unmapped.erase({before->address, before->segment});
  }
  before->size += block->size;
  before->behind = block->behind;
  if (block->behind != nullptr) block->behind->before = before;
  Drop(block);
  return before;
}

void TorchHeap::Join(TorchBlock& block, TorchBlock* behind) {
  if (behind->state == State::kFree) {
    TakeOut(*behind);
  } else {
    behind->segment->lane->unmapped.erase({behind->address, behind->segment});
  }
  block.size += behind->size;
  block.behind = behind->behind;
  if (block.behind != nullptr) block.behind->before = &block;
  Drop(behind);
}

void TorchHeap::CheckInvariants() const {
  Bytes mapped = 0;
  for (const auto& [base, segment] : segments_) {
    DeviceAddress next = base;
    for (const TorchBlock* block = segment->first; block != nullptr; block = block->behind) {
      MEMTRACE_CHECK_EQ(block->address, next);
      next = block->end();
      mapped += block->state == State::kUnmapped ? 0 : block->size;
      const bool is_listed = segment->lane->free.contains(KeyOf(*const_cast<TorchBlock*>(block)));
      MEMTRACE_CHECK_EQ(is_listed, block->state == State::kFree);
      MEMTRACE_CHECK(block->behind == nullptr || block->behind->before == block);
    }
    MEMTRACE_CHECK_EQ(next, base + segment->size);
  }
  MEMTRACE_CHECK_EQ(mapped, reserved_);
}

}  // namespace memtrace::replay
