// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/segment_blocks.h"

#include <utility>

#include "base/check.h"

// Invariants:
// 1. the blocks from `first_` on tile the reservation, in address order;
// 2. no two neighbours are both free, nor both unmapped;
// 3. `holes_` has exactly the unmapped blocks, `free_` exactly the free ones;
// 4. `recent_` has exactly the recently freed blocks;
// 5. `leaving_`, `lent_` and `borrowed_` are the sums of the blocks of these states.
namespace memtrace {
namespace {

bool IsHole(const Block* block) { return block != nullptr && block->is(Block::State::kUnmapped); }

}  // namespace

SegmentBlocks::SegmentBlocks(ExpandableSegment* segment, DeviceAddress address,
                             const SegmentShape& shape, BlockArena& arena)
    : holds_one_(shape.holds_one),
      is_planned_(shape.is_planned),
      arena_(arena),
      free_(arena),
      holes_(shape.granule),
      first_(arena.New()) {
  if (is_planned_) free_.KeepByAddress();
  first_->address = address;
  first_->size = shape.size;
  first_->segment = segment;
  first_->state = Block::State::kUnmapped;
  holes_.Put(first_);
}

SegmentBlocks::~SegmentBlocks() {
  for (Block* block = first_; block != nullptr;) arena_.Recycle(std::exchange(block, block->next));
}

Block* SegmentBlocks::TakeAt(DeviceAddress address, Bytes size) {
  Block* block = is_planned_ ? free_.At(address) : first_;
  if (block == nullptr) return nullptr;
  while (block->end() <= address) block = block->next;
  const bool fits = block->is(Block::State::kFree) && size <= block->end() - address;
  return fits ? free_.TakeAt(block, address, size) : nullptr;
}

Block* SegmentBlocks::last() {
  Block* block = first_;
  while (block->next != nullptr) block = block->next;
  return block;
}

Block* SegmentBlocks::SetAside(Block* range, const AddressRange& part, Block::State state) {
  free_.Remove(range);
  Block* block = Isolate(range, part);
  block->state = state;
  SumOf(state) += block->size;
  if (IsFree(block->previous)) free_.Return(block->previous);
  if (IsFree(block->next)) free_.Return(block->next);
  return block;
}

Block* SegmentBlocks::TakeUp(Block* block) {
  SumOf(block->state) -= block->size;
  return free_.Return(block);
}

Bytes& SegmentBlocks::SumOf(Block::State state) {
  if (state == Block::State::kLeaving) return leaving_;
  MEMTRACE_CHECK(state == Block::State::kLent || state == Block::State::kBorrowed);
  return state == Block::State::kLent ? lent_ : borrowed_;
}

void SegmentBlocks::Fill(Block* hole, const AddressRange& mapped) {
  holes_.Remove(hole);
  Block* block = Isolate(hole, mapped);
  for (Block* beside : {block->previous, block->next}) {
    if (IsHole(beside)) holes_.Put(beside);
  }
  free_.Return(block);
}

void SegmentBlocks::MakeHole(Block* block, const AddressRange& unmapped) {
  free_.Remove(block);
  Block* hole = Isolate(block, unmapped);
  hole->state = Block::State::kUnmapped;
  if (IsFree(hole->previous)) free_.Return(hole->previous);
  if (IsFree(hole->next)) free_.Return(hole->next);
  PutHole(hole);
}

void SegmentBlocks::FreeLeft(const AddressRange& part, bool is_unmapped) {
  Block* block = first_;
  while (block->end() <= part.begin) block = block->next;
  MEMTRACE_CHECK(block->is(Block::State::kLeftOnHost));
  block = Isolate(block, part);
  if (!is_unmapped) {
    free_.Return(block);
    return;
  }
  block->state = Block::State::kUnmapped;
  PutHole(block);
}

// Merges a new hole with the holes beside it.
void SegmentBlocks::PutHole(Block* hole) {
  if (IsHole(hole->next)) {
    holes_.Remove(hole->next);
    arena_.AbsorbNext(hole);
  }
  if (IsHole(hole->previous)) {
    hole = hole->previous;
    arena_.AbsorbNext(hole);
  }
  holes_.Put(hole);
}

// Splits `block` so that one block covers exactly `range`; the other parts keep its state.
Block* SegmentBlocks::Isolate(Block* block, const AddressRange& range) {
  if (block->address < range.begin) block = arena_.Split(block, range.begin - block->address);
  if (range.end < block->end()) arena_.Split(block, range.size());
  return block;
}

void SegmentBlocks::CheckInvariants() const {
  DeviceAddress at = first_->address;
  Bytes free = 0;
  Bytes recent = 0;
  Bytes leaving = 0;
  Bytes lent = 0;
  Bytes borrowed = 0;
  size_t holes = 0;
  const Block* previous = nullptr;
  for (const Block* block = first_; block != nullptr; previous = block, block = block->next) {
    MEMTRACE_CHECK_EQ(block->address, at);
    MEMTRACE_CHECK_EQ(block->previous, previous);
    MEMTRACE_CHECK_EQ(block->segment, first_->segment);
    MEMTRACE_CHECK(!IsHole(block) || !IsHole(previous));
    if (IsHole(block)) {
      MEMTRACE_CHECK_EQ(holes_.At(block->address), block);
      ++holes;
    }
    if (IsFree(block)) free += block->size;
    if (block->is(Block::State::kRecentlyFreed)) recent += block->size;
    if (block->is(Block::State::kLeaving)) leaving += block->size;
    if (block->is(Block::State::kLent)) lent += block->size;
    if (block->is(Block::State::kBorrowed)) borrowed += block->size;
    at = block->end();
  }
  MEMTRACE_CHECK_EQ(leaving, leaving_);
  MEMTRACE_CHECK_EQ(lent, lent_);
  MEMTRACE_CHECK_EQ(borrowed, borrowed_);
  MEMTRACE_CHECK_EQ(holes, holes_.size());
  MEMTRACE_CHECK_EQ(free, free_.bytes());
  MEMTRACE_CHECK_EQ(recent, recent_.bytes());
  free_.CheckInvariants();
}

}  // namespace memtrace
