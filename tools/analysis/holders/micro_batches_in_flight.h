// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MICRO_BATCHES_IN_FLIGHT_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MICRO_BATCHES_IN_FLIGHT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// The micro-batches whose activations a model's layers hold at a moment: those that a pipeline has
// sent forward and that have not come back.
struct MicroBatchesInFlight {
  uint64_t count = 0;
  uint64_t bytes = 0;                       // of these activations
  std::map<std::string, uint64_t> by_site;  // the same, by site; sums to `bytes`
};

// Counts the calls of each numbered layer, in the step of `now`, of which activations live. A call
// counts if a block of the same size and from the same place in the module's code lives of each.
// The result is the count of most layers: a program that keeps the results of one module does not
// change it. Returns nothing if fewer than half of the layers with parameters hold activations.
std::optional<MicroBatchesInFlight> FindMicroBatchesInFlight(
    const std::vector<CapturedBlock>& captured, const Position& now, const LiveSet& live,
    const EventSource& source, SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MICRO_BATCHES_IN_FLIGHT_H_
