// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ADDRESS_MAP_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ADDRESS_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/holders/fragmentation.h"

namespace memtrace::analysis {

// A block, or a hole between blocks.
struct MapPiece {
  enum class Kind : uint8_t { kBlock, kWaiting, kHole };
  uint64_t offset = 0;  // in the segment
  uint64_t bytes = 0;   // allocated
  Kind kind = Kind::kHole;
  trace::Role role = trace::Role::kUnknown;  // of most of a block
  std::string site;                          // of a block
};

// A segment with what lies in it, by offset, without gaps.
struct MapSegment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
  bool expandable = false;
  std::vector<MapPiece> pieces;
};

// Returns `maps` with names, in order of address. The result is valid without the trace.
std::vector<MapSegment> NameMaps(const std::vector<SegmentMap>& maps, const LiveSet& live,
                                 const EventSource& source, SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ADDRESS_MAP_H_
