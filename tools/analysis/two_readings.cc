// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/two_readings.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace memtrace::analysis {

TwoReadings::TwoReadings(const EventSource& source, const MomentSpec& spec)
    : sites(source),
      timeline(source, spec.kind == MomentSpec::Kind::kFailure ? spec.number : 0),
      unread_names(source),
      untrained(source),
      call_sizes(source),
      captures(timeline),
      growth(source, timeline),
      source_(source),
      spec_(spec) {}

absl::Status TwoReadings::Read() {
  MEMTRACE_RETURN_IF_ERROR(FindMoments());
  CaptureMoments();
  LookForGrowth();
  captures.Read(source_);
  return absl::OkStatus();
}

bool TwoReadings::is_failure() const {
  using Kind = MomentSpec::Kind;
  return timeline.failed() && (spec_.kind == Kind::kFailure ||
                               (spec_.kind == Kind::kFailureOrPeak && !timeline.got_over()));
}

bool TwoReadings::is_peak() const {
  using Kind = MomentSpec::Kind;
  return !is_failure() && (spec_.kind == Kind::kPeak || spec_.kind == Kind::kFailureOrPeak);
}

Update TwoReadings::latest_update() const {
  return timeline.failed() ? timeline.failed()->update : timeline.latest_update();
}

absl::Status TwoReadings::FindMoments() {
  MomentFinder finder(spec_);
  source_.ForEach([&](const trace::Event& event) {
    growth.Apply(event);
    timeline.Apply(event);
    attempts.See(event, timeline.counts().events);
    unread_names.See(event, timeline.counts().events);
    untrained.See(event);
    call_sizes.See(event, timeline.counts().events);
    finder.Apply(event, timeline);
  });
  moments_ = finder.Found(timeline);
  const bool missing =
      spec_.kind == MomentSpec::Kind::kFailure ? !timeline.failed() : moments_.empty();
  // A process that never touched a card has neither moments nor anything to explain.
  const bool refused = missing && spec_.kind != MomentSpec::Kind::kFailureOrPeak &&
                       (spec_.kind == MomentSpec::Kind::kFailure || !timeline.cards().empty());
  return refused ? absl::OutOfRangeError(finder.DescribeMissingMoment(timeline)) : absl::OkStatus();
}

void TwoReadings::CaptureMoments() {
  for (const auto& [device, card] : timeline.cards()) {
    captures.At(card.peak_event, [this, at = device] { at_peak[at] = live().Capture(at); });
    LookAt(card.most_reserved_event, device, most_reserved);
    LookAt(card.fullest_event, device, fullest);
  }
  for (const auto& [device, ordinal] : moments_) {
    captures.At(ordinal, device, [this, at = device](CapturedCard captured) {
      at_moment[at] = std::move(captured);
    });
    unread_names.LookUp(device, ordinal, captures);
  }
  const Update update = latest_update();
  captures.At(update.last_event, [this, update] {
    for (const auto& [device, peak] : update.peak_before) {
      after_update[device] = live().Capture(device);
    }
  });
}

void TwoReadings::LookAt(uint64_t ordinal, int32_t device, std::map<int32_t, CardMoment>& into) {
  if (ordinal == 0) return;
  captures.At(ordinal, device, [&into, device](const CapturedCard& captured) {
    into[device] = {captured.when, captured.ledger};
  });
}

void TwoReadings::LookForGrowth() {
  uint64_t latest = 0;
  for (const auto& [device, ordinal] : moments_) latest = std::max(latest, ordinal);
  const trace::StackId stack = is_failure() ? timeline.failed()->event.stack : 0;
  const Annotations& annotations =
      is_failure() ? timeline.failed()->annotations : timeline.annotations();
  growth.Watch(latest, stack, annotations, /*with_loops=*/is_failure() || is_peak(), captures,
               sites);
}

}  // namespace memtrace::analysis
