// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SPILL_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SPILL_H_

#include <functional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/segment/chunk_exchange.h"
#include "allocator/segment/reservation.h"
#include "allocator/segment/segment_blocks.h"
#include "base/units.h"

namespace memtrace {

// Puts memory of the host behind blocks of a segment, and brings the card's back, while the blocks
// keep their addresses and contents. Only whole chunks move, in pieces; a block may have memory of
// both.
//
//   blocks  |   A   |      B      |  C   |      A and C stay. B may move.
//   chunks  |  0  |  1  |  2  |  3  |  4  |     Of B, chunks 2 and 3 move: 1 also has a part of A.
//
// It neither counts nor marks blocks (Spill does). Thread rule: none, guarded by the owner's lock.
class SegmentSpill {
 public:
  // The parts of the segment, which must outlive this.
  SegmentSpill(const SegmentKey& key ABSL_ATTRIBUTE_LIFETIME_BOUND,
               MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Reservation& reservation ABSL_ATTRIBUTE_LIFETIME_BOUND,
               SegmentBlocks& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : key_(key), account_(account), reservation_(reservation), blocks_(blocks) {}

  // Returns the pieces of the card's memory that have some memory of blocks that may move, and else
  // only memory of blocks that have moved in part.
  std::vector<AddressRange> PiecesOnCard(const std::function<bool(const Block&)>& may_move) const;
  std::vector<AddressRange> PiecesOnHost() const;

  // Replaces the memory of such a piece. After a failure all is as before. REQUIRES: all work that
  // uses the piece is done.
  absl::Status ToHost(const AddressRange& piece, ChunkExchange& exchange);
  absl::Status ToCard(const AddressRange& piece, ChunkExchange& exchange);
  // Counts and reports that a piece has left the card; called when its blocks are no longer counted
  // as in use, because observers know no block without memory.
  void CountLeft(const AddressRange& piece);

  // Frees blocks that were freed while the host had a part of their memory: the card's parts become
  // free, and the host's go back to it, except for pieces that blocks in use have a part of.
  // Returns the bytes that the host got. REQUIRES: all work of the card is done.
  Bytes FreeLeft();

  // Ends all states of blocks on the host, because the owner's memory is about to be taken away,
  // wherever it is. REQUIRES: FreeLeft was called.
  void FallAsleep();

  // Notes whether a piece has no memory (ChunkExchange::is_torn), whose blocks then count as on the
  // host.
  void NoteTorn(bool is_torn) { is_torn_ = is_torn; }

  // Calls `visit` with each block that overlaps the range. Only blocks may change that it has been
  // called with.
  void ForEachBlock(const AddressRange& range, const std::function<void(Block&)>& visit);

  // Returns true if the host has a part of the block at `address`.
  bool IsOnHost(DeviceAddress address) const;
  bool HasPartOnHost(const AddressRange& range) const;
  Bytes on_host() const { return reservation_.chunks().on_host(); }
  Bytes on_card() const { return reservation_.mapped() - reservation_.chunks().on_host(); }
  // Returns the card's bytes of blocks that are, or were freed, on the host.
  Bytes on_card_beside() const;

  // Calls Reservation::Share. Shared chunks do not move.
  absl::StatusOr<UniqueDescriptor> Share(const MappedChunk& chunk) {
    return reservation_.Share(chunk);
  }

 private:
  std::vector<AddressRange> RunsOf(const std::function<bool(const Block&)>& is_wanted) const;
  void FreePart(const AddressRange& part, bool is_unmapped);
  Bytes UnmapLeft(const AddressRange& run);
  void FreeCardParts(const AddressRange& run);

  const SegmentKey& key_;
  MappingAccount& account_;
  Reservation& reservation_;
  SegmentBlocks& blocks_;
  bool is_torn_ = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SPILL_H_
