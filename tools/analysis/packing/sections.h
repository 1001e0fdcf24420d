// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_SECTIONS_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_SECTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"
#include "tools/analysis/packing/packing.h"

namespace memtrace::analysis {

// A moment at which as many items are alive as can be, numbered in order of time: between two
// sections an item has begun and before it another has ended. Two items are alive at one time if
// and only if they share a section, so sections replace time.
using Section = uint32_t;

// An item of the packing, alive in the sections [first, last).
struct SectionItem {
  uint32_t id = 0;  // its place among the items that were given
  Section first = 0;
  Section last = 0;
  Bytes size = 0;
  uint64_t lifetime = 0;  // end - begin, in the unit given
};

// Returns the items that occupy anything, with the sections of their time.
std::vector<SectionItem> ToSections(absl::Span<const PackingItem> items);

// Returns the most bytes alive in one section; at most 2^64 - 1.
Bytes HighestLoad(absl::Span<const SectionItem> items);

// Returns groups of items between which no item is alive, so that each can be packed alone. Each
// group counts its sections from 0, without those that its items no longer need.
std::vector<std::vector<SectionItem>> SplitAtCuts(std::vector<SectionItem> items);

// Returns a + b, or 2^64 - 1 if the sum overflows.
constexpr Bytes SaturatingAdd(Bytes a, Bytes b) { return a + b < a ? ~Bytes{0} : a + b; }

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_SECTIONS_H_
