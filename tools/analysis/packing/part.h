// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_PART_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_PART_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// An item that the search has not placed yet.
struct OpenItem {
  uint32_t index = 0;  // among the items of the search
  uint32_t rank = 0;   // the lower of several at one offset goes first
  Section first = 0;   // alive in [first, last)
  Section last = 0;
  Bytes size = 0;
  Bytes low = 0;           // all that lies in its sections ends here or below
  bool is_barred = false;  // no packing has it at `low`: something will be put below it first

  Bytes end() const { return low + size; }
};

inline bool ShareSection(const OpenItem& a, const OpenItem& b) {
  return a.first < b.last && b.first < a.last;
}

// Open items that can be placed without regard to any others, sorted by `low`, then rank.
using OpenPart = std::vector<OpenItem>;

// Returns the part that is left when `part[placed]` lies at its low: items above it rise, and are
// not barred there.
OpenPart AfterPlacing(const OpenPart& part, size_t placed);

// True if an item would have to rise if `part[placed]` were placed.
bool BlocksOtherItem(const OpenPart& part, size_t placed);

// Returns the parts between which no item is alive, in order of time.
std::vector<OpenPart> SplitAtCuts(OpenPart part);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_PART_H_
