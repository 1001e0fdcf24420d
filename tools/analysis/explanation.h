// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLANATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/cures/remedies.h"
#include "tools/analysis/holders/address_map.h"
#include "tools/analysis/holders/attribution.h"
#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/holders/fragmentation.h"
#include "tools/analysis/holders/holder_lines.h"
#include "tools/analysis/holders/idle_blocks.h"
#include "tools/analysis/holders/scratch.h"
#include "tools/analysis/holders/second_models.h"
#include "tools/analysis/kept/dead_cycles.h"
#include "tools/analysis/kept/deleted_models.h"
#include "tools/analysis/kept/failed_attempts.h"
#include "tools/analysis/kept/growth.h"
#include "tools/analysis/kept/kept_for_backward.h"
#include "tools/analysis/kept/summed_passes.h"
#include "tools/analysis/kept/unread_names.h"
#include "tools/analysis/kept/untrained_passes.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/replayed/moment_spec.h"
#include "tools/analysis/replayed/outside_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/moment.h"
#include "tools/analysis/source/other_processes.h"
#include "tools/analysis/source/variables.h"
#include "tools/analysis/verdict/foreach_copy.h"
#include "tools/analysis/verdict/next_step.h"
#include "tools/analysis/verdict/request.h"
#include "tools/analysis/verdict/verdict.h"

namespace memtrace::analysis {

// Another moment of a card than that of its report.
struct CardMoment {
  Moment when;
  Ledger ledger;
};

struct CardExplanation {
  int32_t index = 0;
  Moment when;     // when the request failed, on every card; the moment that was asked about; else
                   // this card's peak
  Ledger ledger;   // then
  Breakdown peak;  // requested bytes in use
  Position peak_at;
  SecondModels second_models;  // of `peak`
  // When most was reserved, and when most was in use or waited for a stream: both need not be the
  // peak of requested bytes. Nothing without segments, or without blocks.
  std::optional<CardMoment> most_reserved;
  std::optional<CardMoment> fullest;
  // How often torch gave back its cache for a request, and waited for all streams; nothing if the
  // trace does not say.
  std::optional<uint64_t> retries;
  std::optional<uint64_t> waits;
  // Of the same launch, with memory of this card then; most first. Their own traces are not read.
  std::vector<OtherProcess> others;
};

// Everything a report says, as figures. Valid without the trace.
struct Explanation {
  std::vector<CardExplanation> cards;         // at least one
  std::map<int32_t, CardTimeline> timelines;  // of the cards that occur in the trace
  size_t card = 0;                            // of the verdict, in `cards`
  Verdict verdict;
  std::optional<Request> request;
  std::optional<Request> got_over;  // the last that failed, if the program completed all the same
  // Traces beside this one whose processes ran out of memory, where this one's did not.
  std::vector<std::string> ran_out_beside;
  std::optional<ForeachCopy> foreach_copy;
  std::optional<MomentSpec> asked;  // about another moment than the failure or the peak
  Breakdown held;  // requested bytes in use on that card at the moment of its ledger
  std::vector<AttributedBytes> attributed;     // the same, by all that is known
  Fragmentation fragmentation;                 // of that card, then
  std::optional<std::vector<MapSegment>> map;  // of that card, then, if it was asked for
  std::vector<Scratch> scratch;                // of that card, then; empty at a failure
  GrowthCourse growth;                         // of that card, up to then
  std::vector<HolderLine> holder_lines;        // of each of held.holdings
  std::vector<OutsideHolding> outside;  // of that card and of the host, then; at the end of a
                                        // trace without blocks
  std::optional<KeptForBackward> kept_for_backward;  // of `held`
  std::optional<UntrainedPasses> untrained_passes;   // of `held`
  std::optional<LargestCall> largest_call;           // at a failure
  std::optional<SummedPasses> summed_passes;         // of `held`; at a failure
  std::optional<FailedAttempts> failed_attempts;     // of `held`; at a failure
  std::optional<DeadCycles> dead_cycles;             // of `held`; at a failure
  std::optional<DeletedModels> deleted_models;       // of `held`
  std::vector<UnreadValue> unread;                   // of `held`; at a failure or a peak
  std::vector<Variable> variables;                   // of that card; at a failure
  std::optional<IdleBlocks> idle;                    // of `held`; nothing without CUPTI
  ActivityWatch activities;                          // what CUPTI told
  std::optional<NextStep> next_step;
  std::vector<Remedy> remedies;
  Annotations annotations;
  EventCounts counts;
  bool is_one_of_ranks = false;  // EventSource::is_one_of_ranks

  // At least a `part`th of what is held, and anything at all: small things always come and go.
  bool is_of_weight(uint64_t bytes, uint64_t part) const {
    return bytes > 0 && bytes >= held.bytes / part;
  }
  // Without the growth, the request that failed would have been served; of a run without one, most
  // of the peak is growth.
  bool growth_is_reason() const {
    return growth.is_reason(held.bytes, request ? verdict.short_by : held.bytes / 2);
  }
  // It would have gone on. A tensor that is replaced by a larger one has the size that the program
  // needed when that completed.
  bool growth_goes_on() const {
    return growth.is_worth_saying(held.bytes) &&
           (request.has_value() || !growth.sites.front().is_enlarged);
  }
};

struct ExplainOptions {
  bool with_map = false;  // and names every block and hole of the card (Explanation::map)
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
