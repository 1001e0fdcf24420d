// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_SEGMENT_MAP_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_SEGMENT_MAP_H_

#include <cstdint>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/mapped_segments.h"

namespace memtrace::analysis {

// Returns the bytes of the whole granules in a range.
uint64_t WholeGranules(uint64_t begin, uint64_t end);

// A block, or free memory between blocks (`block` kNoBlock), of a segment.
struct SegmentPiece {
  static constexpr BlockId kNoBlock = ~BlockId{0};

  uint64_t address = 0;
  uint64_t bytes = 0;  // allocated
  BlockId block = kNoBlock;
  bool waiting = false;  // for a stream

  bool is_hole() const { return block == kNoBlock; }
};

// One segment and what lies in it, by address, without gaps.
struct SegmentMap {
  MappedSegment segment;
  std::vector<SegmentPiece> pieces;
};

// Maps the `blocks` and `segments` of one card at one moment, both in order of address.
// Neighbouring segments that a block spans become one.
std::vector<SegmentMap> MapSegments(const std::vector<CapturedBlock>& blocks, const LiveSet& live,
                                    const std::vector<MappedSegment>& segments);

// Return the last address at or before this one, and the first at or behind it, at which a page of
// the segment ends or the segment itself. REQUIRES: the address is in the segment, or its end.
uint64_t BeginOfPage(const MappedSegment& segment, uint64_t address);
uint64_t EndOfPage(const MappedSegment& segment, uint64_t address);

// The free memory of a private pool, in bytes.
struct FreeOfPool {
  uint64_t bytes = 0;
  uint64_t granules = 0;  // of these, whole granules of 2 MiB
};

// The free memory of a card's segments, each byte once.
struct FreeMemory {
  // Bytes that the driver gets back when the cache is emptied: segments, or pages of expandable
  // ones, in which no block lies, without those of private pools.
  uint64_t cached = 0;
  uint64_t holes = 0;          // free bytes beside blocks
  uint64_t largest_hole = 0;   // of those, in one segment
  uint64_t private_pools = 0;  // free for the pool alone
  uint64_t granules = 0;       // of the first two: whole granules, which could be mapped elsewhere
  std::vector<FreeOfPool> pools = {};  // the parts of `private_pools`, in no order

  uint64_t bytes() const { return cached + holes + private_pools; }
};
FreeMemory FreeMemoryOf(const std::vector<SegmentMap>& maps);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_SEGMENT_MAP_H_
