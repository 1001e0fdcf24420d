// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_LAYOUT_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_LAYOUT_H_

#include <optional>
#include <vector>

#include "tools/analysis/holders/address_map.h"
#include "tools/analysis/holders/fragmentation.h"
#include "tools/analysis/holders/scratch.h"

namespace memtrace::analysis {

// The layout of memory on the card of the verdict at the moment that is explained.
struct ExplainedLayout {
  Fragmentation fragmentation;
  std::optional<std::vector<MapSegment>> map;  // if it was requested
  std::vector<Scratch> scratch;                // empty at a failure
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_LAYOUT_H_
