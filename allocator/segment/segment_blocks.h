// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_

#include "absl/base/attributes.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/segment/free_ranges.h"
#include "allocator/segment/holes.h"
#include "allocator/segment/recent_frees.h"
#include "base/units.h"

namespace memtrace {

class ExpandableSegment;

// A reservation of address space, and the properties of its segment.
struct SegmentShape {
  Bytes size = 0;
  Bytes granule = 0;        // the smallest unit of mapping; divides `size`
  bool holds_one = false;   // one block: a free range is taken whole, even for a small request
  bool is_planned = false;  // blocks are taken at given addresses, and merged when freed
  uint32_t movable_chunk = kLargestMovableChunk;  // the most granules of a movable owner's chunk

  // True if the segment is mapped in one chunk or not at all, because its granule is all of it.
  bool is_fixed() const { return granule == size; }
};

// The blocks of one segment, which tile its addresses: blocks in use, free ranges, recently freed
// blocks, blocks that are set aside, and holes, where no memory is mapped.
//
// Thread rule: none, guarded by the owner's lock.
class SegmentBlocks {
 public:
  // Starts with one hole: the whole segment, which begins at `address`. `arena` must outlive this.
  SegmentBlocks(ExpandableSegment* segment, DeviceAddress address, const SegmentShape& shape,
                BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND);
  ~SegmentBlocks();
  SegmentBlocks(const SegmentBlocks&) = delete;
  SegmentBlocks& operator=(const SegmentBlocks&) = delete;

  // Takes the best fit among the free ranges; null if none fits.
  Block* Take(Bytes size) { return holds_one_ ? free_.TakeWhole(size) : free_.Take(size); }

  // Takes [address, address + size), as a block in use; null unless all of it is free and mapped.
  // Walks the blocks below it, unless the segment is planned. REQUIRES: the segment contains
  // `address`.
  Block* TakeAt(DeviceAddress address, Bytes size);

  // Makes a block free and merges it with its free neighbours.
  void Return(Block* block) { free_.Return(block); }

  // Takes `part` of a free range out of the free memory, as a block that nobody may take. Its state
  // becomes kLeaving, kLent or kBorrowed.
  Block* SetAside(Block* range, const AddressRange& part, Block::State state);
  // Makes such a block free again. Returns the free range that it is now part of.
  Block* TakeUp(Block* block);
  Bytes leaving() const { return leaving_; }  // the sum of these blocks, by state
  Bytes lent() const { return lent_; }

  // Always empty for a fixed segment, whose blocks go back to their source as a whole, and for a
  // planned one, because other blocks will be due in the places of its blocks.
  RecentFrees& recent() { return recent_; }
  const FreeRanges& free() const { return free_; }
  const Holes& holes() const { return holes_; }
  const Block* first() const { return first_; }  // the other blocks follow by `next`
  Block* last();

  // Makes the part `mapped` of `hole` free, after it has been mapped.
  void Fill(Block* hole, const AddressRange& mapped);
  // Makes the part `unmapped` of the free `block` a hole, after it has been unmapped.
  void MakeHole(Block* block, const AddressRange& unmapped);
  // Makes the part of a block that was freed on the host free, or a hole after it was unmapped. The
  // rest stays as it is.
  void FreeLeft(const AddressRange& part, bool is_unmapped);

  // Aborts if blocks, holes and free ranges contradict each other.
  void CheckInvariants() const;

 private:
  Block* Isolate(Block* block, const AddressRange& range);
  void PutHole(Block* hole);
  Bytes& SumOf(Block::State state);

  const bool holds_one_;
  const bool is_planned_;
  BlockArena& arena_;
  FreeRanges free_;
  RecentFrees recent_;
  Holes holes_;
  Bytes leaving_ = 0;
  Bytes lent_ = 0;
  Bytes borrowed_ = 0;
  Block* first_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_BLOCKS_H_
