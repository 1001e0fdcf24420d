// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_SKYLINE_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_SKYLINE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// Packs without backtracking: always puts at the lowest place of the skyline the item of lowest
// rank that lives only where the skyline is that low. If there is none, the place is filled up to
// its lower neighbour. Returns offsets by the index of an item; at most 2^64 - 1.
std::vector<Bytes> FillSkyline(absl::Span<const SectionItem> items,
                               absl::Span<const uint32_t> ranks);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_SKYLINE_H_
