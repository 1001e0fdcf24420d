// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_TIMELINE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_TIMELINE_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/activity_watch.h"
#include "tools/analysis/replayed/block_lives.h"
#include "tools/analysis/replayed/by_card.h"
#include "tools/analysis/replayed/step_curve.h"
#include "tools/analysis/replayed/update_watch.h"
#include "tools/analysis/replayed/visit_marks.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/position.h"

namespace memtrace::analysis {

using PhaseBytes = std::array<uint64_t, trace::kPhaseCount>;

// One card over the whole trace. Bytes; a block is live until its free is requested, and then waits
// until the free is completed.
struct CardTimeline {
  uint64_t live_requested = 0;  // at the end of the trace, like the next four
  uint64_t live_allocated = 0;
  uint64_t waiting_requested = 0;
  uint64_t waiting_allocated = 0;
  uint64_t reserved = 0;
  uint64_t most_reserved = 0;  // ever
  // Ordinal of the allocation by which most was in use or waiting, as long as so much was reserved:
  // what was mapped last is in use then. 0 if there is none.
  uint64_t most_reserved_event = 0;
  uint64_t most_allocated = 0;  // ever: highest sum of live allocated bytes, as torch counts them
  PhaseBytes most_allocated_in = {};  // the same, at allocations in each phase
  uint64_t peak = 0;                  // highest sum of live requested bytes
  uint64_t peak_event =
      0;  // ordinal of the event that reached it first; 0 if nothing was allocated
  Position peak_at;
  uint64_t peak_ns = 0;                // since the trace began
  uint64_t peak_of_earlier_steps = 0;  // the peak when the current step began
  uint64_t fullest = 0;        // highest sum of allocated bytes in use or waiting for a stream
  uint64_t fullest_event = 0;  // as peak_event
  uint64_t most_beside = 0;  // sampled: the process's context, and its memory outside the allocator
  std::optional<trace::CardLedger> first_sample;
  std::optional<trace::CardLedger> last_sample;
  std::vector<uint64_t> live_at_steps;  // live requested bytes as each step began
  std::vector<uint64_t> failures;       // ordinals of out-of-memory events

  // Requested bytes that are not available to others.
  uint64_t held() const { return live_requested + waiting_requested; }
  uint64_t occupied() const { return live_allocated + waiting_allocated; }
};

// The out-of-memory event that is to be explained.
struct FailedRequest {
  trace::OutOfMemory event;
  uint64_t ordinal = 0;  // of the event
  Position at;
  uint64_t at_ns = 0;
  std::optional<uint64_t> rise_of_previous_step;  // StepCurve::RiseFrom
  std::optional<uint64_t> rise_of_same_request;   // StepCurve::RiseFromSameRequest
  std::optional<uint64_t> rise_of_micro_batch;    // the same, of the micro-batch before
  std::vector<uint64_t> live_at_steps;
  uint64_t peak_of_earlier_steps = 0;  // of its card: requested bytes
  Update update;                       // the latest, as it stood then
  Annotations annotations;             // as they stood then
};

struct EventCounts {
  uint64_t events = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t relabels = 0;
  uint64_t steps = 0;
  uint64_t trained_steps = 0;  // those in which a backward pass or an optimizer began
  uint64_t out_of_memory = 0;
  uint64_t last_ns = 0;  // time of the last event, since the trace began
  uint64_t lost = 0;     // events that Lost events speak of
};

// The course of a trace, from its first reading. Keeps a few words for each living block.
class Timeline {
 public:
  // Keeps the last out-of-memory event, or the one numbered `wanted_oom` (from 1).
  Timeline(const EventSource& source, uint64_t wanted_oom);

  void Apply(const trace::Event& event);

  const std::map<int32_t, CardTimeline>& cards() const { return cards_.values(); }
  const std::optional<FailedRequest>& failed() const { return failed_; }
  // True if the program ended by itself, without an exception, and allocated on a card after its
  // last out-of-memory event: torch tried something smaller, or the program tried again.
  bool got_over() const;
  const Annotations& annotations() const { return annotations_; }
  const EventCounts& counts() const { return counts_; }
  // Ordinals of the events that began steps.
  const std::vector<uint64_t>& step_events() const { return step_events_; }
  // Returns the live requested bytes of the card as each step began, up to and with event `end`. A
  // card that was first touched in a later step has fewer than there are steps.
  std::vector<uint64_t> LevelsAtSteps(int32_t device, uint64_t end) const;
  const VisitMarks& micro_batches() const { return micro_batches_; }
  // Live requested bytes of all cards.
  uint64_t in_use() const { return in_use_; }
  const ActivityWatch& activities() const { return activities_; }
  Update latest_update() const { return updates_.Latest(counts_.events); }

 private:
  struct Holding {
    uint64_t requested = 0;
    uint64_t allocated = 0;
  };
  using Lives = BlockLives<Holding>;
  struct Replay {
    StepCurve curve;
    StepCurve micro_batches;
    uint64_t occupied_at_most = 0;  // the most, while most is reserved
  };

  void Apply(const Lives::Born& born);
  void Apply(const Lives::Found& found);
  void Apply(const Lives::LetGo& let_go) { Wait(let_go.block, cards_[let_go.device]); }
  void Apply(const Lives::Ended& ended);
  void Apply(const Lives::Stray& stray);
  void Apply(const trace::Map& map);
  void Apply(const trace::Unmap& unmap);
  void Apply(const trace::Relabel&) { ++counts_.relabels; }
  void Apply(const trace::Step& step);
  void Apply(const trace::PhaseChange& change);
  void Apply(const trace::Annotate& annotate);
  void Apply(const trace::OutOfMemory& out_of_memory);
  void Apply(const trace::CardSample& sample);
  void Apply(const trace::Lost& lost) { counts_.lost += lost.events; }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::TagChange, trace::OutsideAllocate,
                         trace::OutsideFree, trace::Resume, trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  // Blocks so far were memory that the program took without an allocator (fact::kAllocatorBegan).
  void ForgetPeaks();
  void CountTrainedStep(trace::Phase phase);
  void Add(const trace::Allocate& allocation, bool waiting, Holding& block);
  void Rise(CardTimeline& card) const;
  void NoteFullest(CardTimeline& card, Replay& replay) const;
  void Wait(const Holding& block, CardTimeline& card);

  const EventSource& source_;
  uint64_t wanted_oom_;
  Lives lives_;
  ByCard<CardTimeline> cards_;
  ByCard<Replay> replays_;
  std::optional<FailedRequest> failed_;
  Annotations annotations_;
  EventCounts counts_;
  std::vector<uint64_t> step_events_;
  Position position_;
  VisitMarks micro_batches_;         // begun in all steps
  uint64_t in_use_ = 0;              // live requested bytes of all cards
  uint64_t latest_micro_batch_ = 0;  // of its step
  uint64_t latest_trained_step_ = 0;
  uint64_t last_allocation_ = 0;  // ordinal
  uint64_t last_failure_ = 0;     // likewise
  uint64_t now_ns_ = 0;
  UpdateWatch updates_;
  ActivityWatch activities_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_TIMELINE_H_
