// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SECOND_MODELS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SECOND_MODELS_H_

#include <cstdint>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Bytes of parameters and buffers of models beside the one that is trained or, if none is, beside
// the largest: those of other owners of which nothing is trained, and, of an owner's own model,
// parameters that already exist under the same path (a clone; the oldest is the original).
struct SecondModels {
  uint64_t parameters = 0;
  uint64_t buffers = 0;
};

SecondModels FindSecondModels(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                              const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SECOND_MODELS_H_
