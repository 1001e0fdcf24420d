// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_KEEPER_FINDER_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_KEEPER_FINDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/kept/growth.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/keeper.h"

namespace memtrace::analysis {

// The moment up to which memory grows.
struct GrowthMoment {
  int32_t device = 0;
  uint64_t event = 0;  // ordinal
  uint64_t held = 0;   // bytes in use on the card
  const std::vector<CapturedBlock>& captured;
  const Annotations& annotations;  // as they stood then; at the end of the trace without a failure
  bool is_failure = false;
};

// Returns what keeps the growing blocks, which are matched by their addresses; nothing if the hooks
// stated nothing that holds them. REQUIRES: a site grows.
std::optional<Keeper> FindKeeper(const GrowthCourse& growth, const GrowthMoment& moment,
                                 const LiveSet& live, const EventSource& source);

// Returns the container with the most tensors that have graphs, no matter what grows. Its line is
// the user's own that called the model, as far as that is known.
std::optional<Keeper> FindKeeperOfGraphs(const GrowthMoment& moment, const LiveSet& live,
                                         const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_KEEPER_FINDER_H_
