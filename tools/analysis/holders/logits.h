// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LOGITS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LOGITS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Bytes of a model's logits, a number for each word or class, and of what a loss makes of them. The
// sizes are exact; that these blocks are logits is inferred.
struct Logits {
  uint64_t activations = 0;
  uint64_t temporaries = 0;

  uint64_t bytes() const { return activations + temporaries; }
};

// True for the module that computes the logits, by its usual name.
bool IsHead(std::string_view module);

// True for the functions of torch that compute a loss over words or classes of their logits.
bool IsOfLossFunction(const trace::Frame& frame);

// Finds blocks of a mebibyte or more that a module `lm_head` or a cross entropy requested, and
// those of the same size, or of twice or half that (another type), that no module requested: their
// gradients, and copies.
Logits FindLogits(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                  const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_LOGITS_H_
