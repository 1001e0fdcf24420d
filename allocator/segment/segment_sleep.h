// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SLEEP_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SLEEP_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/segment/reservation.h"
#include "allocator/segment/segment_blocks.h"
#include "base/units.h"

namespace memtrace {

// Takes the memory of a segment away and brings it back, while its blocks keep their addresses.
//
// Thread rule: none, guarded by the owner's lock.
class SegmentSleep {
 public:
  // The parts of the segment, which must outlive this; a wake maps chunks of at most
  // `largest_chunk` granules.
  SegmentSleep(const SegmentKey& key ABSL_ATTRIBUTE_LIFETIME_BOUND, uint32_t largest_chunk,
               MappingAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND,
               Reservation& reservation ABSL_ATTRIBUTE_LIFETIME_BOUND,
               SegmentBlocks& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : key_(key),
        largest_chunk_(largest_chunk),
        account_(account),
        reservation_(reservation),
        blocks_(blocks) {}

  // Takes all memory away; the blocks keep their addresses and may be freed meanwhile. After a
  // failure the segment is asleep all the same, with a part of its memory, and PutAway or BringBack
  // may be called (again). REQUIRES: all work of the card is done, no block is recently freed,
  // leaving, waits for a stream, or counts as on the host (SegmentSpill::FallAsleep).
  absl::Status PutAway();
  // The blocks that get memory at a wake: those in use, or also the free ones, which the replays of
  // a graph use.
  enum class Wanted { kInUse, kAll };
  // Maps the card's memory for what is wanted, in chunks as large as possible; what it contains is
  // undefined.
  // After a failure the segment is still asleep, with a part of its memory.
  absl::Status BringBack(Wanted wanted);
  // Makes holes of the free memory that BringBack has not mapped. REQUIRES: BringBack succeeded.
  void WakeUp();
  bool is_asleep() const { return is_asleep_; }
  // Returns the bytes that BringBack would map beyond what the card has: also in place of what the
  // host still has, because a sleep could not unmap it.
  Bytes Missing(Wanted wanted) const;
  // Returns the maximal ranges of adjacent wanted blocks, in ascending order.
  std::vector<AddressRange> RangesOf(Wanted wanted) const;

 private:
  AddressRange InWholeGranules(const AddressRange& range, bool outwards) const;
  std::vector<AddressRange> GranulesOf(Wanted wanted) const;
  std::vector<AddressRange> MissingOf(Wanted wanted) const;
  absl::Status MapBack(const AddressRange& range);

  const SegmentKey& key_;
  const uint32_t largest_chunk_;
  MappingAccount& account_;
  Reservation& reservation_;
  SegmentBlocks& blocks_;
  bool is_asleep_ = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_SEGMENT_SLEEP_H_
