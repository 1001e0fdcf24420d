// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MOVABLE_OWNERS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MOVABLE_OWNERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// A model of which nothing is trained: its owner has parameters, but neither gradients nor
// optimizer states, and another owner also has parameters. The model can be moved elsewhere.
struct MovableOwner {
  std::string name;
  uint64_t bytes = 0;      // requested, of every role
  bool is_in_use = false;  // it has activations, a KV cache or workspaces at the moment
};

// Considers the blocks that do not wait for a stream; returns the largest owner first.
std::vector<MovableOwner> FindMovableOwners(const std::vector<CapturedBlock>& captured,
                                            const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MOVABLE_OWNERS_H_
