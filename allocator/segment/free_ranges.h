// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_FREE_RANGES_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_FREE_RANGES_H_

#include <array>
#include <vector>

#include "absl/base/attributes.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/size_bins.h"
#include "base/units.h"

namespace memtrace {

// The free, mapped blocks of one segment, coalesced, ordered by size and then by address: best fit,
// lowest address among equals. Coalescing costs O(1) because blocks know their neighbours. The
// order lives in a treap (as in tcmalloc's HugeAddressMap) for each bin of sizes: a bin mostly has
// one block or two, and at worst, when all sizes are equal, finding costs O(log n). The links are
// in the blocks themselves, so nothing here reaches the heap.
//
// Thread rule: none, the owner's lock guards it.
class FreeRanges {
 public:
  // `arena` must outlive this.
  explicit FreeRanges(BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND) : arena_(arena) {}

  // From now on ranges are found by address too, in O(log n); few are, in planned memory, so they
  // are kept in an array. REQUIRES: there is none yet.
  void KeepByAddress() { is_by_address_ = true; }

  // The range that contains `address`; null if none does. REQUIRES: KeepByAddress.
  Block* At(DeviceAddress address) const;

  // The first `size` bytes of the smallest range that holds them, as an allocated block; null if no
  // range does.
  Block* Take(Bytes size);

  // Returns the smallest range that holds `size` bytes, whole, as an allocated block; null if none
  // does.
  Block* TakeWhole(Bytes size);

  // [address, address + size) of `range`, as an allocated block; what is before and after it stays
  // free. REQUIRES: `range` is one of these and contains it.
  Block* TakeAt(Block* range, DeviceAddress address, Bytes size);

  // Makes `block` free and one with its free neighbours; returns the range it is now part of. A
  // range keeps the record of its lowest block.
  Block* Return(Block* block);

  // Takes a free block out, as it is: its memory is about to be unmapped.
  void Remove(Block* block);

  Bytes bytes() const { return bytes_; }
  Bytes largest() const;

  // All ranges of at least `size` bytes, the smallest first.
  std::vector<Block*> NoSmallerThan(Bytes size) const;

  // Aborts unless order, priorities and sums are right.
  void CheckInvariants() const;

 private:
  void Insert(Block* block);
  Block* Merge(Block* lower, Block* range);
  bool KeepsBin(const Block* range, Bytes size) const;
  void PutAlone(Block* block);
  Block* BestFit(Bytes size) const;
  std::vector<Block*>::const_iterator AfterAddress(DeviceAddress address) const;

  BlockArena& arena_;
  std::array<Block*, kSizeBins> roots_{};
  BinSet occupied_;  // bins with a root
  bool is_by_address_ = false;
  std::vector<Block*> by_address_;  // all of them, if so
  Bytes bytes_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_FREE_RANGES_H_
