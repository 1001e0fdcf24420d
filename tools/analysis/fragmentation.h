// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_FRAGMENTATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_FRAGMENTATION_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/event_source.h"
#include "tools/analysis/live_set.h"
#include "tools/analysis/mapped_segments.h"
#include "tools/analysis/site_names.h"

namespace memtrace::analysis {

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

// `blocks` and `segments` of one card at one moment, both in order of address. Neighbours that a
// block goes across are one.
std::vector<SegmentMap> MapSegments(const std::vector<CapturedBlock>& blocks, const LiveSet& live,
                                    const std::vector<MappedSegment>& segments);

struct HolesOfSize {
  uint64_t from = 0;  // bytes; less than the next one's
  uint64_t holes = 0;
  uint64_t bytes = 0;
};

// Blocks of one role and site that keep memory from being given back.
struct Pin {
  trace::Role role = trace::Role::kUnknown;
  std::string site;
  uint64_t strands = 0;    // bytes
  uint64_t allocated = 0;  // of these blocks
  uint64_t blocks = 0;
};

// Free memory inside the segments of a card. Bytes.
struct Fragmentation {
  uint64_t holes = 0;  // of all free ranges
  uint64_t hole_count = 0;
  uint64_t largest_hole = 0;
  uint64_t below_granule = 0;  // of `holes`: what is left beside whole granules
  // Of `holes`: what the driver gets back when the cache is emptied: segments, or granules of
  // expandable ones, in which no block lies. The rest is stranded.
  uint64_t releasable = 0;
  uint64_t segments = 0;
  std::array<HolesOfSize, 6> by_size;
  std::vector<Pin> pins;  // most stranded first; they sum to holes - releasable
};

Fragmentation MeasureFragmentation(const std::vector<SegmentMap>& maps, const LiveSet& live,
                                   SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_FRAGMENTATION_H_
