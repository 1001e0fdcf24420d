// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_SUMMED_PASSES_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_SUMMED_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Passes of a loop that are added up before one backward, or each of which goes on with the result
// of the one before, so that autograd keeps all their graphs.
struct SummedPasses {
  std::string name;      // the variable that they are added to, or that is handed on
  std::string loop;      // "train.py:22"
  std::string backward;  // likewise
  uint64_t passes = 0;   // that are over; 0 if they hand the variable on
  uint64_t bytes = 0;    // that these keep, about: the latest pass is taken to have an equal share

  bool hands_on() const { return passes == 0; }
};

// Returns nothing if the hooks found no such loop. `captured`: the blocks of the card at `now`.
std::optional<SummedPasses> FindSummedPasses(const std::vector<CapturedBlock>& captured,
                                             const Position& now, const LiveSet& live,
                                             const EventSource& source,
                                             const Annotations& annotations);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_SUMMED_PASSES_H_
