// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/timeline.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {

Timeline::Timeline(const EventSource& source, uint64_t wanted_oom)
    : source_(source), wanted_oom_(wanted_oom) {}

void Timeline::Apply(const trace::Event& event) {
  ++counts_.events;
  counts_.last_ns = std::max(counts_.last_ns, event.time_ns);
  now_ns_ = event.time_ns;
  position_.Advance(event);
  activities_.Apply(event, source_);
  lives_.Apply(event.payload, [this](const auto& happened) { Apply(happened); });
}

void Timeline::Apply(const Lives::Born& born) {
  ++counts_.allocations;
  last_allocation_ = counts_.events;
  Add(born.allocation, /*waiting=*/false, born.block);
}

// The block was not allocated in the recorded part, but it is as alive as one that was.
void Timeline::Apply(const Lives::Found& found) {
  Add(found.alive.block, found.alive.waiting != 0, found.block);
}

void Timeline::Add(const trace::Allocate& allocation, bool waiting, Holding& block) {
  CardTimeline& card = cards_[allocation.device];
  Replay& replay = replays_[allocation.device];
  replay.curve.Allocated(allocation.stack, allocation.requested, card.held());
  replay.micro_batches.Allocated(allocation.stack, allocation.requested, card.held());
  block = {allocation.requested, allocation.allocated};
  card.live_requested += allocation.requested;
  in_use_ += allocation.requested;
  card.live_allocated += allocation.allocated;
  if (waiting) Wait(block, card);
  updates_.Level(allocation.device, card.held());
  card.most_allocated = std::max(card.most_allocated, card.live_allocated);
  // A damaged trace may have a phase that does not exist.
  if (const auto phase = static_cast<size_t>(position_.phase); phase < trace::kPhaseCount)
    card.most_allocated_in[phase] = std::max(card.most_allocated_in[phase], card.live_allocated);
  if (card.live_requested > card.peak) Rise(card);
  NoteFullest(card, replay);
}

void Timeline::NoteFullest(CardTimeline& card, Replay& replay) const {
  if (card.occupied() > card.fullest) {
    card.fullest = card.occupied();
    card.fullest_event = counts_.events;
  }
  if (card.reserved < card.most_reserved || card.occupied() <= replay.occupied_at_most) return;
  replay.occupied_at_most = card.occupied();
  card.most_reserved_event = counts_.events;
}

// Raises the peak to a level that was never reached before.
void Timeline::Rise(CardTimeline& card) const {
  card.peak = card.live_requested;
  card.peak_event = counts_.events;
  card.peak_at = position_;
  card.peak_ns = now_ns_;
}

// Moves a block from those that are live to those that wait.
void Timeline::Wait(const Holding& block, CardTimeline& card) {
  card.live_requested -= block.requested;
  in_use_ -= block.requested;
  card.live_allocated -= block.allocated;
  card.waiting_requested += block.requested;
  card.waiting_allocated += block.allocated;
}

void Timeline::Apply(const Lives::Ended& ended) {
  if (ended.by == FreeBy::kCompletion) ++counts_.frees;
  CardTimeline& card = cards_[ended.device];
  card.waiting_requested -= ended.block.requested;
  card.waiting_allocated -= ended.block.allocated;
}

void Timeline::Apply(const Lives::Stray& stray) {
  if (stray.by == FreeBy::kCompletion) ++counts_.frees;
}

void Timeline::Apply(const trace::Map& map) {
  CardTimeline& card = cards_[map.device];
  card.reserved += map.size;
  if (card.reserved <= card.most_reserved) return;
  card.most_reserved = card.reserved;
  replays_[map.device].occupied_at_most = 0;
}

void Timeline::Apply(const trace::Unmap& unmap) {
  uint64_t& reserved = cards_[unmap.device].reserved;
  reserved -= std::min(reserved, unmap.size);
}

void Timeline::Apply(const trace::Step& step) {
  ++counts_.steps;
  step_events_.push_back(counts_.events);
  latest_micro_batch_ = 0;
  for (auto& [device, card] : cards_.values()) {
    card.live_at_steps.push_back(card.live_requested);
    card.peak_of_earlier_steps = card.peak;
    replays_[device].curve.BeginStep(step.number);
  }
}

void Timeline::Apply(const trace::PhaseChange& change) {
  if (change.micro_batch != 0 && change.micro_batch != latest_micro_batch_) {
    latest_micro_batch_ = change.micro_batch;
    micro_batches_.Add(counts_.events, in_use());
    for (auto& [device, replay] : replays_.values())
      replay.micro_batches.BeginStep(micro_batches_.count());
  }
  CountTrainedStep(change.phase);
  std::map<int32_t, uint64_t> level;
  for (const auto& [device, card] : cards()) level[device] = card.held();
  updates_.PhaseChanged(position_, counts_.events, level);
}

void Timeline::CountTrainedStep(trace::Phase phase) {
  const bool trains = phase == trace::Phase::kBackward || phase == trace::Phase::kOptimizer;
  if (!trains || position_.step <= latest_trained_step_) return;
  latest_trained_step_ = position_.step;
  ++counts_.trained_steps;
}

void Timeline::Apply(const trace::Annotate& annotate) {
  const std::string_view key = source_.String(annotate.key);
  annotations_.insert_or_assign(std::string(key), std::string(source_.String(annotate.value)));
  if (key == fact::kAllocatorBegan) ForgetPeaks();
}

void Timeline::ForgetPeaks() {
  for (auto& [device, card] : cards_.values()) {
    if (card.held() > 0) continue;
    card.most_allocated = 0;
    card.most_allocated_in = {};
    card.peak = card.peak_event = card.peak_ns = card.peak_of_earlier_steps = 0;
    card.peak_at = {};
    card.fullest = card.fullest_event = 0;
  }
}

void Timeline::Apply(const trace::OutOfMemory& out_of_memory) {
  ++counts_.out_of_memory;
  last_failure_ = counts_.events;
  CardTimeline& card = cards_[out_of_memory.device];
  card.failures.push_back(counts_.events);
  for (const trace::CardLedger& ledger : out_of_memory.cards) Apply(trace::CardSample{ledger});
  if (wanted_oom_ != 0 && counts_.out_of_memory != wanted_oom_) return;
  FailedRequest failed;
  failed.event = out_of_memory;
  failed.ordinal = counts_.events;
  failed.at = position_;
  failed.at_ns = now_ns_;
  failed.rise_of_previous_step =
      replays_[out_of_memory.device].curve.RiseFrom(out_of_memory.requested);
  failed.rise_of_same_request = replays_[out_of_memory.device].curve.RiseFromSameRequest(
      out_of_memory.stack, out_of_memory.requested);
  failed.rise_of_micro_batch =
      replays_[out_of_memory.device].micro_batches.RiseFrom(out_of_memory.requested);
  failed.live_at_steps = card.live_at_steps;
  failed.peak_of_earlier_steps = card.peak_of_earlier_steps;
  failed.update = latest_update();
  failed.annotations = annotations_;
  failed_ = std::move(failed);
}

std::vector<uint64_t> Timeline::LevelsAtSteps(int32_t device, uint64_t end) const {
  const auto card = cards().find(device);
  if (card == cards().end()) return {};
  std::vector<uint64_t> levels = card->second.live_at_steps;
  const auto after = std::upper_bound(step_events_.begin(), step_events_.end(), end);
  const auto later = static_cast<size_t>(step_events_.end() - after);
  levels.resize(levels.size() - std::min(levels.size(), later));
  return levels;
}

bool Timeline::got_over() const {
  return last_failure_ > 0 && last_allocation_ > last_failure_ &&
         AnnotatedText(annotations_, fact::kProgramException) == "none";
}

void Timeline::Apply(const trace::CardSample& sample) {
  CardTimeline& card = cards_[sample.card.device];
  card.most_beside =
      std::max(card.most_beside, sample.card.context + sample.card.outside_allocator);
  card.last_sample = sample.card;
  if (!card.first_sample) card.first_sample = sample.card;
}

}  // namespace memtrace::analysis
