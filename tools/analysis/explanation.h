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

// All figures of a report, a member for each section. Valid without the trace.
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
  // True if the failed request would have been served without the growth; in a run without a failed
  // request, true if most of the peak is growth.
  bool growth_is_reason() const {
    const uint64_t held = holders.held.bytes;
    return kept.growth.is_reason(held, failure.request ? failure.verdict.short_by : held / 2);
  }
  // True if the growth would have gone on. If no request failed, a tensor that is replaced by a
  // larger one has reached the size that the program needs.
  bool growth_goes_on() const {
    return kept.growth.is_worth_saying(holders.held.bytes) &&
           (failure.request.has_value() || !kept.growth.sites.front().is_enlarged);
  }
};

struct ExplainOptions {
  bool with_map = false;  // and names every block and hole of the card (ExplainedLayout::map)
  // Fills in what other processes of the launch held (OtherProcess::holds of the card of the
  // verdict), once that card, its moment and the annotations are known. May be empty.
  std::function<void(Explanation&)> add_others;
};

// Explains a moment. Reads the source twice (three times with CUPTI); time grows with events,
// memory with living blocks. Returns kOutOfRange, with a sentence, if the trace has no such moment.
absl::StatusOr<Explanation> Explain(const EventSource& source, const MomentSpec& spec = {},
                                    const ExplainOptions& options = {});

// Returns only what needs no names of stacks: the counts, the timelines and each card's peak by
// role. There are no ledgers.
Explanation ExplainPeaks(const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_
