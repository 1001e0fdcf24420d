// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/cures.h"
#include "tools/analysis/explained/failure.h"
#include "tools/analysis/explained/holders.h"
#include "tools/analysis/explained/kept.h"
#include "tools/analysis/explained/layout.h"
#include "tools/analysis/explained/run.h"
#include "tools/analysis/replayed/moment_spec.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Everything a report says, as figures: a section each. Valid without the trace.
struct Explanation {
  std::vector<CardExplanation> cards;         // at least one
  std::map<int32_t, CardTimeline> timelines;  // of the cards that occur in the trace
  size_t card = 0;                            // of the verdict, in `cards`
  std::optional<MomentSpec> asked;            // about another moment than the failure or the peak
  ExplainedRun run;
  ExplainedFailure failure;
  ExplainedHolders holders;
  ExplainedLayout layout;
  ExplainedKept kept;
  ExplainedCures cures;

  const CardExplanation& card_of_verdict() const { return cards[card]; }
  // Without the growth, the request that failed would have been served; of a run without one, most
  // of the peak is growth.
  bool growth_is_reason() const {
    const uint64_t held = holders.held.bytes;
    return kept.growth.is_reason(held, failure.request ? failure.verdict.short_by : held / 2);
  }
  // It would have gone on. A tensor that is replaced by a larger one has the size that the program
  // needed when that completed.
  bool growth_goes_on() const {
    return kept.growth.is_worth_saying(holders.held.bytes) &&
           (failure.request.has_value() || !kept.growth.sites.front().is_enlarged);
  }
};

struct ExplainOptions {
  bool with_map = false;  // and names every block and hole of the card (ExplainedLayout::map)
  // Fills in what others of the launch held (OtherProcess::holds of the card of the verdict), once
  // that card, its moment and the annotations are known. May be empty.
  std::function<void(Explanation&)> add_others;
};

// Explains a moment. Reads the source twice (with CUPTI three times); time grows with events,
// memory with living blocks. kOutOfRange: a sentence, the trace has no such moment.
absl::StatusOr<Explanation> Explain(const EventSource& source, const MomentSpec& spec = {},
                                    const ExplainOptions& options = {});

// The counts, the timelines and each card's peak by role alone: what needs no names of stacks. No
// ledgers.
Explanation ExplainPeaks(const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_
