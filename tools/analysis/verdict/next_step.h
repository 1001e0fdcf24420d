// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_NEXT_STEP_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_NEXT_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/replayed/update_watch.h"

namespace memtrace::analysis {

// What the forward and backward passes of the step after an update will take of the card, if it
// does what the step before did: states that the update made stay, so they come on top. Estimated.
struct NextStep {
  uint64_t number = 0;      // of that step
  uint64_t new_states = 0;  // optimizer states that the update made, or still makes
  uint64_t need = 0;        // bytes of the card, context and all
  // Gradients of the step before that were there when the step's forward failed; they may come on
  // top.
  uint64_t left_gradients = 0;
};

// The blocks that `update` made and that were there when it ended.
std::vector<CapturedBlock> MadeByUpdate(const Update& update,
                                        const std::vector<CapturedBlock>& after,
                                        const LiveSet& live);

// Nothing if there was no update, if it makes no states (then the peak of this step says it all),
// or if the passes after it are in the trace. `made`: breakdown of what MadeByUpdate names;
// `to_come`: bytes of states that an update which failed had not made yet; `ledger`: what is on the
// card beside the allocator's.
std::optional<NextStep> ForeseeNextStep(const Update& update, int32_t device, const Breakdown& made,
                                        uint64_t to_come, const Ledger& ledger);

// Bytes of gradients among `captured` that an earlier step than the one of `now` made, if that is
// in a forward; 0 in any other phase.
uint64_t GradientsLeft(const std::vector<CapturedBlock>& captured, const Position& now,
                       const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_NEXT_STEP_H_
