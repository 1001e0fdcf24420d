// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LAYER_COUNTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LAYER_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Returns how many layers have parameters, by what they have in common: "model.layers.*".
std::map<std::string, uint64_t> CountLayers(const std::vector<CapturedBlock>& captured,
                                            const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LAYER_COUNTS_H_
