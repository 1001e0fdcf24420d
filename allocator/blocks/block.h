// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_BLOCK_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_BLOCK_H_

#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/units.h"

namespace memtrace {

class ExpandableSegment;

// A range of bytes of one segment. The blocks of a segment tile its reservation in address order
// and are linked to their neighbours, so splitting and merging touch nothing else:
//
//   |  allocated  | free |  allocated  |        unmapped        |
//    <----------- mapped ------------->
struct Block {
  enum class State : uint8_t {
    kUnmapped,
    kFree,
    kRecentlyFreed,  // free, but not yet merged with its neighbours (RecentFrees)
    kAllocated,
    kPendingFree,
    kLeaving,     // free, but about to be unmapped, so nobody may take it (LeavingMemory)
    kOnHost,      // in use, but the host has the memory of a part or all of it (Spill)
    kLeftOnHost,  // freed in that state: work of the card may still use it
    kLent,        // mapped, and also used at other addresses, so nobody may take it (TakingTurns)
    kBorrowed     // its memory is that of such a block in another segment
  };

  DeviceAddress address;
  Bytes size = 0;
  ExpandableSegment* segment = nullptr;
  Block* previous = nullptr;
  Block* next = nullptr;
  State state = State::kUnmapped;

  // While the block is free: links of the tree in FreeRanges, and the node's priority in it. While
  // it is recently freed, `left` is the next block of its slot.
  uint32_t priority = 0;
  Block* left = nullptr;
  Block* right = nullptr;

  // Valid while the block is in use.
  Bytes requested = 0;
  ContextId context{};
  uint32_t unfinished_events = 0;                     // while kPendingFree
  absl::InlinedVector<StreamId, 2> recorded_streams;  // other than the segment's own

  DeviceAddress end() const { return address + size; }
  AddressRange range() const { return AddressRange::Of(address, size); }
  bool is(State s) const { return state == s; }

  // Notes that `stream` uses the block, which belongs to the stream `own`.
  void RecordStream(StreamId stream, StreamId own);
};

// Owns the Block records and reuses them: after warm-up, splitting and merging do not allocate heap
// memory. Records are never freed; their number follows the peak number of blocks. Thread rule:
// none, guarded by the owner's lock.
class BlockArena {
 public:
  Block* New();

  // Cuts `block` after `size` bytes and returns the rest as a block of the same state.
  // REQUIRES: 0 < size < block->size.
  Block* Split(Block* block, Bytes size);

  // Extends `block` over its next neighbour, whose record is recycled.
  void AbsorbNext(Block* block);

  void Recycle(Block* block);

  size_t live() const { return live_; }

 private:
  static constexpr size_t kSlab = 128;

  std::vector<std::unique_ptr<Block[]>> slabs_;
  Block* recycled_ = nullptr;  // linked by `next`
  uint32_t random_ = 1;        // fixed seed: equal programs place blocks equally
  size_t live_ = 0;
};

// Returns true if there is a block, and it is free.
inline bool IsFree(const Block* block) {
  return block != nullptr && block->is(Block::State::kFree);
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_BLOCK_H_
