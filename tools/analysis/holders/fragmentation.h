// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_FRAGMENTATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_FRAGMENTATION_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/segment_map.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

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
  uint64_t largest_hole = 0;   // outside private pools, as the next
  uint64_t below_granule = 0;  // bytes of `holes` outside of whole granules
  // Bytes of `holes` that the driver gets back when the cache is emptied (FreeMemory::cached). The
  // rest is stranded or belongs to a private pool.
  uint64_t releasable = 0;
  uint64_t private_pools = 0;  // bytes of `holes` that are free for such a pool only
  uint64_t segments = 0;
  std::array<HolesOfSize, 6> by_size;
  std::vector<Pin> pins;  // most stranded first; they sum to stranded()

  uint64_t stranded() const { return holes - releasable - private_pools; }
};

Fragmentation MeasureFragmentation(const std::vector<SegmentMap>& maps, const LiveSet& live,
                                   SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_FRAGMENTATION_H_
