// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_FOR_BACKWARD_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_FOR_BACKWARD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/annotation.h"
#include "tools/analysis/event_source.h"
#include "tools/analysis/live_set.h"

namespace memtrace::analysis {

// Activations of forward passes with gradients on, in a run in which no backward pass ran: autograd
// keeps them for one. Under torch.no_grad() they would not be kept.
struct KeptForBackward {
  uint64_t bytes = 0;
  uint64_t forwards = 0;  // such passes before the moment, by the outermost module's calls

  // With one pass, the backward may still have been to come.
  bool is_in_vain() const { return forwards > 1; }
};

// Nothing if a backward ran, if nothing is kept, or if it is not known how many passes there were.
// `captured`: the blocks of the moment; `annotations`: as they stood then.
std::optional<KeptForBackward> FindKeptForBackward(const std::vector<CapturedBlock>& captured,
                                                   const LiveSet& live, const EventSource& source,
                                                   const Annotations& annotations);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_FOR_BACKWARD_H_
