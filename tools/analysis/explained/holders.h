// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_HOLDERS_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_HOLDERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/holders/attribution.h"
#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/holders/holder_lines.h"
#include "tools/analysis/holders/idle_blocks.h"
#include "tools/analysis/replayed/moved_memory.h"
#include "tools/analysis/replayed/outside_set.h"

namespace memtrace::analysis {

// The holders of the card of the verdict at the moment that is explained.
struct ExplainedHolders {
  Breakdown held;                           // requested bytes in use
  std::vector<AttributedBytes> attributed;  // the same, by all that is known
  std::vector<HolderLine> lines;            // of each of held.holdings
  std::vector<MovedBytes> moved;            // in the whole run
  std::vector<OutsideHolding> outside;      // of that card and of the host; at the end of a trace
                                            // without blocks
  std::optional<IdleBlocks> idle;           // of `held`; nothing without CUPTI

  // True if `bytes` is more than 0 and at least 1/`part` of what is held: small things always come
  // and go.
  bool is_of_weight(uint64_t bytes, uint64_t part) const {
    return bytes > 0 && bytes >= held.bytes / part;
  }
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_HOLDERS_H_
