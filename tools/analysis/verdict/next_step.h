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

// The need of the forward and backward passes of the step after an update, if it does what the step
// before did: states that the update made stay, so they come on top. Estimated.
struct NextStep {
  uint64_t number = 0;      // of that step
  uint64_t new_states = 0;  // optimizer states that the update made, or still makes
  uint64_t need = 0;        // bytes of the card, context and all
  // Gradients of the step before that existed when the step's forward failed; they may come on top.
  uint64_t left_gradients = 0;
};

// Returns the blocks that `update` made and that existed when it ended.
std::vector<CapturedBlock> MadeByUpdate(const Update& update,
                                        const std::vector<CapturedBlock>& after,
                                        const LiveSet& live);

// Returns nothing if there was no update, if it makes no states (then the peak of this step says it
// all), or if the passes after it are in the trace. `made`: breakdown of what MadeByUpdate()
// returns; `to_come`: bytes of states that a failed update had not made yet; `ledger`: tells what
// is on the card beside the allocator's memory.
std::optional<NextStep> PredictNextStep(const Update& update, int32_t device, const Breakdown& made,
                                        uint64_t to_come, const Ledger& ledger);

// Returns the bytes of gradients among `captured` that were made in a step before that of `now`, if
// `now` is in a forward; 0 in any other phase.
uint64_t GradientsLeft(const std::vector<CapturedBlock>& captured, const Position& now,
                       const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_NEXT_STEP_H_
