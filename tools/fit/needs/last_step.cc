// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/last_step.h"

#include <algorithm>
#include <optional>

namespace memtrace::fit {
namespace {

using analysis::Explanation;

// Returns the most bytes that were requested of a card in its last step. The process ended itself
// at the end of that step, before the next began. Returns nothing if the trace has no such moment.
std::optional<uint64_t> PeakOfLastStep(const analysis::EventSource& source,
                                       const Explanation& explanation, int32_t card) {
  const auto last = analysis::Explain(source, {.kind = analysis::MomentSpec::Kind::kPeakOfStep,
                                               .number = explanation.run.counts.steps,
                                               .card = card});
  if (!last.ok() || last->card_of_verdict().index != card) return std::nullopt;
  return last->holders.held.bytes;
}

}  // namespace

void NoteLastStep(const analysis::EventSource& source, const Explanation& explanation,
                  ProcessNeed& process) {
  if (process.end == TrialEnd::kProgram) return;
  for (CardNeed& need : process.cards) {
    const auto timeline = explanation.timelines.find(need.card);
    const bool climbs = FloorClimbOf(need.floors, process.steps).has_value();
    if (!climbs || timeline == explanation.timelines.end()) continue;
    const uint64_t peak = timeline->second.peak;
    const uint64_t last = PeakOfLastStep(source, explanation, need.card).value_or(peak);
    need.below_peak = peak - std::min(peak, last);
  }
}

}  // namespace memtrace::fit
