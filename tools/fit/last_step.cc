// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/last_step.h"

#include <algorithm>

namespace memtrace::fit {
namespace {

using analysis::Explanation;

uint64_t RequestedBytes(const Explanation& explanation, int32_t card) {
  uint64_t bytes = 0;
  for (const analysis::CardExplanation& of : explanation.cards)
    for (const analysis::Holding& holding : of.peak.holdings)
      if (of.index == card) bytes += holding.bytes;
  return bytes;
}

}  // namespace

void NoteLastStep(const analysis::EventSource& source, const Explanation& explanation,
                  ProcessNeed& process) {
  const bool climbs = std::any_of(
      process.cards.begin(), process.cards.end(), [&process](const CardNeed& need) {
        return FloorClimbOf(need.floors, process.steps).has_value();
      });
  if (!climbs || process.end == TrialEnd::kProgram) return;
  // The process ended itself at the end of a step, before the next began.
  const auto last = analysis::Explain(source, {.kind = analysis::MomentSpec::Kind::kPeakOfStep,
                                               .number = explanation.run.counts.steps});
  if (!last.ok()) return;
  for (CardNeed& need : process.cards) {
    const uint64_t peak = RequestedBytes(explanation, need.card);
    need.below_peak = peak - std::min(peak, RequestedBytes(*last, need.card));
  }
}

}  // namespace memtrace::fit
