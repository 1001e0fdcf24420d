// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_

#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/vmm.h"
#include "allocator/segment/growth.h"
#include "allocator/segment/reservation.h"
#include "allocator/segment/segment_blocks.h"
#include "allocator/segment/segment_sleep.h"
#include "allocator/segment/segment_spill.h"
#include "allocator/segment/segment_turns.h"
#include "base/units.h"

namespace memtrace {

// A reservation of address space as large as the card, mapped as far as it is needed, and the
// blocks in it. It grows by mapping chunks into a hole (an unmapped block) and shrinks by unmapping
// whole chunks that lie in a free block. Addresses of blocks in use never change.
//
//   granules   |  0  |  1  |  2  |  3  |  4  |  5  |  6  | ...
//   chunks     |<-------- 0 ---->|<-2->|  .  |  .  |  .  | ...     "xxx...."
//   blocks     |  A    |free| B  |free |        hole       ...
//
// Growing by 3 granules here maps 4 and 5 only if the free tail at granule 3 and the hole's two
// granules hold the request: free memory next to a hole is used first.
//
// Failures: a failed driver call leaves the segment as before it (Reservation). Thread rule: none,
// guarded by the owner's lock.
class ExpandableSegment {
 public:
  // Reserves the address space. All references must outlive the segment.
  static absl::StatusOr<std::unique_ptr<ExpandableSegment>> Reserve(
      const SegmentKey& key, const SegmentShape& shape, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
      BlockArena& arena ABSL_ATTRIBUTE_LIFETIME_BOUND,
      MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Unmaps and releases everything. REQUIRES: no work on the card uses it any more.
  ~ExpandableSegment() = default;
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;

  // Maps the range of a growth. REQUIRES: its hole is one of this segment's.
  absl::Status Grow(const Growth& growth);

  // Unmaps chunks that are entirely free, from the highest address down, until `wanted` bytes are
  // unmapped or none is left. Returns the bytes unmapped. With 0, it only undoes what the driver
  // has refused to undo before. REQUIRES: all work queued on the segment's stream is done.
  absl::StatusOr<Bytes> Trim(Bytes wanted);

  // Makes chunks leave that Trim would unmap: they are no longer free, and stay mapped until Leave.
  std::vector<Block*> StartLeaving(Bytes wanted);
  // Unmaps such a block. What the driver refuses to unmap is free again. Returns the bytes
  // unmapped, which may be fewer than the block has. REQUIRES: as Trim.
  Bytes Leave(Block* block);

  // Returns the most bytes that Trim could unmap.
  Bytes trimmable() const;

  // Gives the address space back. After OK the segment only has to be destroyed; after a failure it
  // is as before. REQUIRES: nothing is mapped.
  absl::Status Close() { return reservation_.Close(); }

  // Blocks are taken and returned through this; only Grow, Trim and Leave fill and dig holes.
  SegmentBlocks& blocks() { return blocks_; }
  const SegmentBlocks& blocks() const { return blocks_; }
  // Its memory is taken away and brought back through this.
  SegmentSleep& sleep() const { return *sleep_; }
  // Memory of it is replaced by the host's through this.
  SegmentSpill& spill() const { return *spill_; }
  // Chunks are shared with other segments through this.
  SegmentTurns& turns() const { return *turns_; }
  const Reservation& reservation() const { return reservation_; }
  const SegmentKey& key() const { return key_; }
  const SegmentShape& shape() const { return shape_; }

  // Aborts if blocks and chunks contradict each other.
  void CheckInvariants() const;

 private:
  ExpandableSegment(const SegmentKey& key, DeviceAddress address, const SegmentShape& shape,
                    Vmm& vmm, BlockArena& arena, MappingAccount& account);

  std::vector<Block*> FreeFromTheTop() const;
  absl::Status Unmap(Block* range, const AddressRange& part, Bytes wanted, Bytes& sum);

  const SegmentKey key_;
  const SegmentShape shape_;
  MappingAccount& account_;
  Reservation reservation_;
  SegmentBlocks blocks_;
  // These refer to the reservation and the blocks.
  const std::unique_ptr<SegmentSleep> sleep_;
  const std::unique_ptr<SegmentSpill> spill_;
  const std::unique_ptr<SegmentTurns> turns_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_EXPANDABLE_SEGMENT_H_
