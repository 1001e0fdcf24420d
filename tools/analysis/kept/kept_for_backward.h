// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_FOR_BACKWARD_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_FOR_BACKWARD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Activations of forward passes with gradients on for which no backward pass ran: in a run without
// any, or of a model in eval mode that is trained in training mode. Autograd keeps them for a
// backward; under torch.no_grad() they would not be kept.
struct KeptForBackward {
  uint64_t bytes = 0;
  uint64_t forwards = 0;    // such passes before the moment, by the calls of one outermost module
  bool is_trained = false;  // an optimizer has parameters on the card
  bool is_eval = false;     // the model is in eval mode, and is trained in training mode
  bool may_train = true;    // a file of the user's mentions training, or none was read

  // With one pass, or in training, the backward may still be to come, because losses may be summed.
  // If no file of the user's mentions training, none comes.
  bool is_in_vain() const { return is_eval || ((forwards > 1 || !may_train) && !is_trained); }
};

// Returns nothing if a backward ran and the model is not in eval mode, if nothing is kept, or if
// the number of passes is not known. `captured`: the blocks of the card at the moment `now`;
// `annotations`: those of that moment.
std::optional<KeptForBackward> FindKeptForBackward(const std::vector<CapturedBlock>& captured,
                                                   const Position& now, int32_t device,
                                                   const LiveSet& live, const EventSource& source,
                                                   const Annotations& annotations);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_FOR_BACKWARD_H_
