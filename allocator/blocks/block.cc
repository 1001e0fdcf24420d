// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/block.h"

#include <algorithm>

#include "base/check.h"

namespace memtrace {
namespace {

// Marsaglia's xorshift32: the tree's priorities only need to be without a pattern.
uint32_t NextRandom(uint32_t x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}

}  // namespace

void Block::RecordStream(StreamId stream, StreamId own) {
  const bool is_known = stream == own || std::find(recorded_streams.begin(), recorded_streams.end(),
                                                   stream) != recorded_streams.end();
  if (!is_known) recorded_streams.push_back(stream);
}

Block* BlockArena::New() {
  if (recycled_ == nullptr) {
    slabs_.push_back(std::make_unique<Block[]>(kSlab));
    for (size_t i = kSlab; i-- > 0;) {
      Block* block = &slabs_.back()[i];
      block->priority = random_ = NextRandom(random_);
      block->next = recycled_;
      recycled_ = block;
    }
  }
  Block* block = recycled_;
  recycled_ = block->next;
  block->next = nullptr;
  ++live_;
  return block;
}

Block* BlockArena::Split(Block* block, Bytes size) {
  MEMTRACE_CHECK_GT(size, Bytes{0});
  MEMTRACE_CHECK_LT(size, block->size);
  Block* rest = New();
  rest->address = block->address + size;
  rest->size = block->size - size;
  rest->segment = block->segment;
  rest->state = block->state;
  rest->previous = block;
  rest->next = block->next;
  if (rest->next != nullptr) rest->next->previous = rest;
  block->next = rest;
  block->size = size;
  return rest;
}

void BlockArena::AbsorbNext(Block* block) {
  Block* absorbed = block->next;
  MEMTRACE_CHECK_EQ(block->end(), absorbed->address);
  block->size += absorbed->size;
  block->next = absorbed->next;
  if (block->next != nullptr) block->next->previous = block;
  Recycle(absorbed);
}

void BlockArena::Recycle(Block* block) {
  block->state = Block::State::kUnmapped;  // must not look in use to Find
  // `recorded_streams` keeps its capacity; it is already empty, because the block is free.
  block->previous = nullptr;
  block->next = recycled_;
  recycled_ = block;
  --live_;
}

}  // namespace memtrace
