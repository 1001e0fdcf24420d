// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/accounting.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/card/vmm.h"
#include "allocator/segment/chunk_map.h"
#include "allocator/segment/free_ranges.h"
#include "allocator/segment/recent_frees.h"
#include "base/units.h"

namespace memtrace {

// A reservation of address space as large as the card, mapped as far as it is needed. It grows by
// mapping chunks into a hole (an unmapped block) and shrinks by unmapping whole chunks that lie in
// a free block. Addresses of blocks in use never change.
//
//   granules   |  0  |  1  |  2  |  3  |  4  |  5  |  6  | ...
//   chunks     |<-------- 0 ---->|<-2->|  .  |  .  |  .  | ...     "xxx...."
//   blocks     |  A    |free| B  |free |        hole       ...
//
// Growing by 3 granules here maps 4 and 5 only if the free tail at granule 3 and the hole's two
// granules hold the request: what is free beside a hole is used first.
//
// A fixed segment is one whose granule is all of it: it is mapped in one chunk or not at all.
//
// Failures: a driver call that fails leaves the segment as before it. What of a half-made growth
// cannot be undone either (a handle, chunks without access) is remembered and undone later. Thread
// rule: none, the owner's lock guards it.
class ExpandableSegment {
 public:
  // A growth worth making: map [address, address + size), and a request fits.
  struct Growth {
    Block* hole = nullptr;
    DeviceAddress address = 0;
    Bytes size = 0;
    uint32_t chunk = kLargestChunk;  // granules of a chunk at most
  };

  struct Shape {
    Bytes size = 0;
    Bytes granule = 0;        // what is mapped at least; divides `size`
    bool holds_one = false;   // block: a free range is taken whole, however small the request
    bool is_planned = false;  // blocks are taken at stated addresses, and merged when freed
  };

  // Reserves the address space. All references must outlive the segment.
  static absl::StatusOr<std::unique_ptr<ExpandableSegment>> Reserve(
      const SegmentKey& key, const Shape& shape, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
      BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND,
      Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Gives the address space back; after OK nothing is left to be done but to destroy the segment,
  // after a failure it is as before. REQUIRES: mapped() == 0.
  absl::Status Close();

  // Tries again what the driver would not undo. Not OK if a chunk is still mapped without access.
  absl::Status UndoRest();

  // Unmaps and releases everything. REQUIRES: no work on the card uses it any more.
  ~ExpandableSegment();
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;

  Block* Take(Bytes size) { return holds_one_ ? free_.TakeWhole(size) : free_.Take(size); }

  // [address, address + size), as a block in use; null unless all of it is free and mapped. Walks
  // the blocks below it, unless the segment is planned.
  Block* TakeAt(DeviceAddress address, Bytes size);

  void Return(Block* block) { free_.Return(block); }

  // Of a fixed segment there are never any: its blocks go back to their source as a whole. Nor of a
  // planned one: others will be due in their places.
  RecentFrees& recent() { return recent_; }
  const RecentFrees& recent() const { return recent_; }

  // The growth after which Take(size) succeeds that maps the fewest granules, at the lowest address
  // among equals; none if no hole with its free neighbours is long enough.
  std::optional<Growth> PlanGrowth(Bytes size) const;
  absl::Status Grow(const Growth& growth);

  // The same growth in chunks of `granules`, the last one too as far as the hole goes: it may map
  // more than is missing. Growth in the middle of a hole becomes wider at its upper end.
  Growth InChunks(const Growth& growth, uint32_t granules) const;

  // What has to be mapped so that all of [address, address + size) is. None if something there is
  // in use. REQUIRES: the segment is planned.
  struct Missing {
    Bytes bytes = 0;
    Growth first;  // if any is missing: the part of it at the lowest address
  };
  std::optional<Missing> MissingAt(DeviceAddress address, Bytes size) const;

  // Unmaps whole free chunks, from the highest address down, until `wanted` bytes are unmapped or
  // none is left; returns how many. REQUIRES: everything queued on the segment's stream is done.
  absl::StatusOr<Bytes> Trim(Bytes wanted);

  // The chunks that [address, address + size) touches, ascending.
  std::vector<MappedChunk> ChunksUnder(DeviceAddress address, Bytes size) const;

  // Vmm::Share of such a chunk.
  absl::StatusOr<UniqueDescriptor> Share(const MappedChunk& chunk) {
    return vmm_.Share(chunk.address);
  }

  // What Trim could unmap.
  Bytes trimmable() const;

  // The largest request that would fit if the driver had `available` more bytes, in whole granules.
  Bytes Obtainable(Bytes available) const;

  bool is_fixed() const { return granularity_ == size_; }
  bool is_planned() const { return is_planned_; }
  const SegmentKey& key() const { return key_; }
  DeviceAddress address() const { return address_; }
  Bytes size() const { return size_; }
  Bytes mapped() const { return chunks_.granules() * granularity_; }
  Bytes free_bytes() const { return free_.bytes(); }
  Bytes largest_free() const { return free_.largest(); }
  bool Contains(DeviceAddress address) const {
    return address >= address_ && address - address_ < size_;
  }
  const Block* first() const { return first_; }  // all blocks follow by `next`

  // Chunk map up to the last mapped granule: "xx..x".
  std::string Picture() const;

  // Aborts if blocks, holes, free ranges and chunks contradict each other.
  void CheckInvariants() const;

 private:
  using Chunks = std::vector<ChunkRange>;

  ExpandableSegment(const SegmentKey& key, DeviceAddress address, const Shape& shape, Vmm& vmm,
                    BlockArena& arena, Accounting& accounting);

  absl::Status MapChunks(const Growth& growth, Chunks& fresh);
  absl::Status MapChunk(ChunkRange chunk);
  absl::Status UnmapChunk(ChunkRange chunk);
  void ReleaseHandle(ChunkHandle handle);
  void AddMapped(Block* hole, const Chunks& fresh);
  absl::Status TrimBlock(Block* block, Bytes wanted, Bytes& unmapped);
  void AddHole(Block* block, DeviceAddress begin, DeviceAddress end);
  const Block* FreeOrHoleAt(DeviceAddress address) const;
  Block* Isolate(Block* block, DeviceAddress begin, DeviceAddress end);
  Chunks WholeChunks(const Block& block) const;

  GranuleIndex IndexOf(DeviceAddress at) const {
    return static_cast<GranuleIndex>((at - address_) / granularity_);
  }
  DeviceAddress AddressOf(GranuleIndex index) const { return address_ + index * granularity_; }

  const SegmentKey key_;
  const DeviceAddress address_;
  const Bytes size_;
  const Bytes granularity_;
  const bool holds_one_;
  const bool is_planned_;
  Vmm& vmm_;
  BlockArena& arena_;
  Accounting& accounting_;
  FreeRanges free_;
  RecentFrees recent_;
  ChunkMap chunks_;
  Block* first_;
  absl::btree_map<DeviceAddress, Block*> holes_;

  // What the driver would not undo when asked: handles that are not released, and chunks that are
  // mapped without access, which the books know nothing of. Asked again by UndoRest().
  std::vector<ChunkHandle> unreleased_;
  Chunks without_access_;
  bool is_closed_ = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_
