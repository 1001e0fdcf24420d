// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_

#include "absl/base/attributes.h"
#include "allocator/blocks/block.h"
#include "allocator/segment/free_ranges.h"
#include "allocator/segment/holes.h"
#include "allocator/segment/recent_frees.h"
#include "base/units.h"

namespace memtrace {

class ExpandableSegment;

// A reservation of address space, and the properties of the segment in it.
struct SegmentShape {
  Bytes size = 0;
  Bytes granule = 0;        // what is mapped at least; divides `size`
  bool holds_one = false;   // block: a free range is taken whole, however small the request
  bool is_planned = false;  // blocks are taken at stated addresses, and merged when freed

  // A segment whose granule is all of it is mapped in one chunk or not at all.
  bool is_fixed() const { return granule == size; }
};

// The blocks of one segment, which tile its addresses: blocks in use, free ranges, blocks freed
// recently, and holes, where no memory is mapped.
//
// Thread rule: none, the owner's lock guards it.
class SegmentBlocks {
 public:
  // At first all of the segment, which begins at `address`, is a hole. `arena` must outlive this.
  SegmentBlocks(ExpandableSegment* segment, DeviceAddress address, const SegmentShape& shape,
                BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND);
  ~SegmentBlocks();
  SegmentBlocks(const SegmentBlocks&) = delete;
  SegmentBlocks& operator=(const SegmentBlocks&) = delete;

  // Returns the best fit among the free ranges, in use; null if none fits.
  Block* Take(Bytes size) { return holds_one_ ? free_.TakeWhole(size) : free_.Take(size); }

  // Returns [address, address + size), as a block in use; null unless all of it is free and mapped.
  // Walks the blocks below it, unless the segment is planned. REQUIRES: the segment contains
  // `address`.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Makes a block free and one with its free neighbours.
  void Return(Block* block) { free_.Return(block); }

  // A fixed segment never has any: its blocks go back to their source as a whole. Nor has a planned
  // one: other blocks will be due in their places.
  RecentFrees& recent() { return recent_; }
  const FreeRanges& free() const { return free_; }
  const Holes& holes() const { return holes_; }
  const Block* first() const { return first_; }  // all blocks follow by `next`

  // Makes `mapped` of `hole` free: it has just been mapped.
  void Fill(Block* hole, const AddressRange& mapped);
  // Makes `unmapped` of the free `block` a hole: it has just been unmapped.
  void Dig(Block* block, const AddressRange& unmapped);

  // Aborts if blocks, holes and free ranges contradict each other.
  void CheckInvariants() const;

 private:
  Block* Isolate(Block* block, const AddressRange& range);

  const bool holds_one_;
  const bool is_planned_;
  BlockArena& arena_;
  FreeRanges free_;
  RecentFrees recent_;
  Holes holes_;
  Block* first_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_
