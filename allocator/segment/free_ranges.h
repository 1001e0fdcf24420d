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
// order is kept in a treap (as in tcmalloc's HugeAddressMap) for each bin of sizes: a bin mostly
// has one or two blocks, and even if all sizes are equal, a search costs O(log n). The links are
// stored in the blocks themselves, so nothing here allocates heap memory.
//
// Thread rule: none, guarded by the owner's lock.
class FreeRanges {
 public:
  // `arena` must outlive this.
  explicit FreeRanges(BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND) : arena_(arena) {}

  // Also finds ranges by address from now on, in O(log n). They are kept in an array, because
  // planned memory has few ranges. REQUIRES: there is none yet.
  void KeepByAddress() { is_by_address_ = true; }

  // Returns the range that contains `address`; null if none does. REQUIRES: KeepByAddress.
  Block* At(DeviceAddress address) const;

  // Takes the first `size` bytes of the smallest range that holds them, as an allocated block.
  // Returns null if no range does.
  Block* Take(Bytes size);

  // Takes the whole of the smallest range that holds `size` bytes, as an allocated block. Returns
  // null if no range does.
  Block* TakeWhole(Bytes size);

  // Takes [address, address + size) of `range`, as an allocated block; the parts before and after
  // stay free. REQUIRES: `range` is one of these and contains it.
  Block* TakeAt(Block* range, DeviceAddress address, Bytes size);

  // Makes `block` free and merges it with its free neighbours. Returns the range it is now part of,
  // which keeps the record of its lowest block.
  Block* Return(Block* block);

  // Removes a free block, unchanged, because its memory is about to be unmapped.
  void Remove(Block* block);

  Bytes bytes() const { return bytes_; }
  Bytes largest() const;

  // Returns all ranges of at least `size` bytes, the smallest first.
  std::vector<Block*> FindAllFitting(Bytes size) const;

  // Aborts unless order, priorities and sums are correct.
  void CheckInvariants() const;

 private:
  void Insert(Block* block);
  Block* Merge(Block* lower, Block* range);
  bool StaysInBin(const Block* range, Bytes size) const;
  void SetAloneInBin(Block* block);
  Block* BestFit(Bytes size) const;
  void CheckBins() const;
  std::vector<Block*>::const_iterator FirstAfter(DeviceAddress address) const;

  BlockArena& arena_;
  std::array<Block*, kSizeBins> roots_{};
  BinSet occupied_;  // bins with a root
  bool is_by_address_ = false;
  std::vector<Block*> by_address_;  // all ranges, if is_by_address_
  Bytes bytes_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_FREE_RANGES_H_
