// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_CACHE_TO_COME_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_CACHE_TO_COME_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::analysis {

// The KV cache that a call of generate() had begun to make when a request failed: a pass over the
// prompt makes it layer by layer. Bytes.
struct CacheToCome {
  uint64_t made = 0;
  uint64_t to_come = 0;  // if all layers take the same
  uint64_t layers = 0;   // of the model
  uint64_t layers_made = 0;
};

// Returns nothing if every layer has some of it, if none has, or if the number of layers is not
// known.
std::optional<CacheToCome> FindCacheToCome(const FailedRequest& failed,
                                           const std::vector<CapturedBlock>& captured,
                                           const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_CACHE_TO_COME_H_
