// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_RECENT_FREES_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_RECENT_FREES_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "base/fibonacci_hash.h"
#include "base/units.h"

namespace memtrace {

// The recently freed blocks of one segment, not yet merged with their neighbours, because programs
// mostly request again the sizes they have just freed. Blocks of one size are reused last in, first
// out. A slot holds blocks of one size; a block of another size with the same slot evicts them.
//
// Thread rule: none, guarded by the owner's lock.
class RecentFrees {
 public:
  // Takes the block of exactly this size that was freed last; null if there is none.
  Block* Take(Bytes size) {
    const size_t slot = SlotOf(size);
    Block* block = slots_[slot];
    if (block == nullptr || block->size != size) return nullptr;
    slots_[slot] = block->left;
    if (block->left == nullptr) occupied_ &= ~Bit(slot);
    block->state = Block::State::kAllocated;
    bytes_ -= size;
    return block;
  }

  // Keeps a block that was in use. Calls `leave` for each block that is evicted.
  template <typename Leave>
  void Put(Block* block, Leave leave) {
    const size_t slot = SlotOf(block->size);
    if (slots_[slot] != nullptr && slots_[slot]->size != block->size) Empty(slot, leave);
    block->state = Block::State::kRecentlyFreed;
    block->left = slots_[slot];
    slots_[slot] = block;
    occupied_ |= Bit(slot);
    bytes_ += block->size;
  }

  // Removes all blocks and calls `leave` for each.
  template <typename Leave>
  void EmptyAll(Leave leave) {
    while (occupied_ != 0) Empty(static_cast<size_t>(std::countr_zero(occupied_)), leave);
  }

  bool empty() const { return occupied_ == 0; }
  Bytes bytes() const { return bytes_; }

 private:
  static constexpr size_t kSlots = 64;

  static constexpr uint64_t Bit(size_t slot) { return uint64_t{1} << slot; }
  static constexpr size_t SlotOf(Bytes size) { return FibonacciHash<6>(size / kAllocationUnit); }

  template <typename Leave>
  void Empty(size_t slot, Leave leave) {
    Block* block = slots_[slot];
    slots_[slot] = nullptr;
    occupied_ &= ~Bit(slot);
    while (block != nullptr) {
      Block* next = block->left;
      bytes_ -= block->size;
      leave(block);
      block = next;
    }
  }

  std::array<Block*, kSlots> slots_{};  // linked by `left`
  uint64_t occupied_ = 0;               // one bit for each slot
  Bytes bytes_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_RECENT_FREES_H_
