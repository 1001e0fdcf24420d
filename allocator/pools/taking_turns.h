// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_TAKING_TURNS_H_
#define MEMTRACE_ALLOCATOR_POOLS_TAKING_TURNS_H_

#include <vector>

#include "allocator/segment/expandable_segment.h"
#include "base/units.h"

namespace memtrace {

class SegmentGroups;
struct Pool;

// Private pools whose graphs never run at the same time, and the chunks that are mapped in several
// of them. The pool with the most free memory lends, each other one borrows what fits; chunks stay
// where they are, so nothing is created or copied.
//
// Thread rule: none, guarded by the card's lock.
class TakingTurns {
 public:
  struct Shared {
    Bytes saved = 0;       // what the pools have given back to the card
    bool is_lost = false;  // the driver has failed, and a pool lacks memory (Pool::has_lost_memory)
  };
  // Shares free memory among the pools, beside what they share already. `groups` are the card's.
  // REQUIRES: all work of the card is done, and no block of the pools is recently freed.
  Shared Begin(const SegmentGroups& groups, const std::vector<Pool*>& pools);

  // True if a pool without users shares chunks.
  bool HasEnded() const;
  // Takes the pools without users out: their borrowed chunks are unmapped, and another pool
  // inherits those that they lend. What the driver refuses is tried again. REQUIRES: all work of
  // the card is done.
  void EndUnused();

 private:
  struct Place {
    ExpandableSegment* segment = nullptr;
    const Pool* pool = nullptr;
    Block* block = nullptr;
  };
  using Places = std::vector<Place>;  // of one chunk; the first one lends it
  struct Run {
    ExpandableSegment* segment = nullptr;
    AddressRange range;
  };
  // A pool, and its free memory.
  struct Member {
    Pool* pool = nullptr;
    std::vector<Run> runs;
    Bytes bytes = 0;
  };
  // A chunk that may be lent, and its places elsewhere.
  struct Offer {
    ExpandableSegment* segment = nullptr;
    AddressRange chunk;
    Places borrowed;
  };

  static Member MemberOf(const SegmentGroups& groups, Pool* pool);
  static std::vector<Offer> OffersOf(const Member& lender);
  static Bytes BorrowFor(const Member& member, std::vector<Offer>& offers);
  static Bytes Exchange(const Member& member, const Run& run, std::vector<Offer*>& chosen);
  static bool End(Places& places);

  std::vector<Places> chunks_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_TAKING_TURNS_H_
