// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_TURNS_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_TURNS_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/vmm.h"
#include "allocator/segment/reservation.h"
#include "allocator/segment/segment_blocks.h"
#include "base/units.h"

namespace memtrace {

// Lets free memory of several segments be the same chunks, because their owners use it in turns. A
// chunk stays where it was mapped first, in the segment that lends it, and is counted there alone:
//
//   lends     |  A  |     lent    |   free   |        chunks     |<-->|<------ 0 ----->|<-- 1 -->|
//   borrows   |  B    |  borrowed   |  free  |        chunks     |<---->|  (chunk 0)    |<- 2 ->|
//
// Blocks that are lent or borrowed serve no requests. Thread rule: none, guarded by the owner's
// lock.
class SegmentTurns {
 public:
  // The parts of the segment, which must outlive this, and its card.
  SegmentTurns(const SegmentKey& key ABSL_ATTRIBUTE_LIFETIME_BOUND,
               MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Reservation& reservation ABSL_ATTRIBUTE_LIFETIME_BOUND,
               SegmentBlocks& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : key_(key), account_(account), reservation_(reservation), blocks_(blocks), vmm_(vmm) {}

  // Unmaps what is borrowed. REQUIRES: no work on the card uses it any more.
  ~SegmentTurns();
  SegmentTurns(const SegmentTurns&) = delete;
  SegmentTurns& operator=(const SegmentTurns&) = delete;

  // Returns the ranges of whole chunks that are entirely free, in ascending order.
  std::vector<AddressRange> Available() const;

  // Lends a free chunk, or stops. EndLending also unmaps it: if the driver refuses, it is still
  // lent.
  absl::StatusOr<ChunkHandle> Retain(const AddressRange& chunk) { return vmm_.Retain(chunk.begin); }
  Block* Lend(const AddressRange& chunk);
  void StopLending(Block* block) { blocks_.TakeUp(block); }
  absl::Status EndLending(Block* block);

  // A chunk of another segment, and its place here.
  struct Piece {
    AddressRange place;
    ChunkHandle chunk{};
  };
  struct Exchanged {
    std::vector<Block*> borrowed;  // one for each piece; null where it was not mapped
    bool is_lost = false;          // a part has no memory at all, because the driver has failed
  };
  // Unmaps chunks of its own from `begin` on, and maps the pieces in their place, which follow each
  // other from `begin` on. What the chunks had more is mapped anew. Releases the handles. REQUIRES:
  // the pieces lie in a range of Available(), which begins at `begin`; all work of the card is
  // done.
  Exchanged Exchange(DeviceAddress begin, const std::vector<Piece>& pieces);

  // Unmaps a borrowed block, which becomes a hole. After a failure it is still borrowed.
  absl::Status GiveBack(Block* block);
  // Makes a borrowed block a lent one, because the segment that lent it has ended. Returns it.
  Block* Inherit(Block* block);

  // Returns the bytes that are mapped here but belong to others.
  Bytes borrowed() const { return borrowed_; }

 private:
  DeviceAddress EndOfOwnChunks(DeviceAddress least) const;
  Block* FreeBlockAt(DeviceAddress address) const;
  void Fill(const AddressRange& gone, const std::vector<Piece>& pieces, Exchanged& exchanged);
  Block* Borrow(const Piece& piece, bool& is_lost);
  bool MapOwn(const AddressRange& gap);
  void Unmapped(const AddressRange& range, int ranges_before);

  const SegmentKey& key_;
  MappingAccount& account_;
  Reservation& reservation_;
  SegmentBlocks& blocks_;
  Vmm& vmm_;
  Bytes borrowed_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_TURNS_H_
