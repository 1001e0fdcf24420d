// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_DEAD_CYCLES_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_DEAD_CYCLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Blocks in use that no reference of the program reaches: Python objects that refer to each other
// hold them, and only the garbage collector would free them.
struct DeadCycles {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::string made_at;  // the user's line that made most of it; may be empty
  // True if the failed request was served three times before, beside as much live memory: it would
  // always be served if the dead blocks were collected.
  bool is_all_that_grows = false;
};

// Returns the dead blocks that the hooks found when the request failed (the annotation
// cycles.dead); nothing if there are none. `captured`: the blocks of the request's card at that
// time.
std::optional<DeadCycles> FindDeadCycles(const FailedRequest& failed,
                                         const std::vector<CapturedBlock>& captured,
                                         const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_DEAD_CYCLES_H_
