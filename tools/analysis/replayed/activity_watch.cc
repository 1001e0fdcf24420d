// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/activity_watch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "profiler/trace/events/visit.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {

uint64_t EndOf(const trace::Activity& activity) {
  return activity.start_ns + std::min(activity.duration_ns, ~uint64_t{0} - activity.start_ns);
}

void ActivityWatch::Apply(const trace::Event& event, const EventSource& source) {
  last_ns_ = std::max(last_ns_, event.time_ns);
  trace::Visit([&](const auto& payload) { Apply(payload, event.time_ns, source); }, event.payload);
}

void ActivityWatch::Apply(const trace::Annotate& stated, uint64_t time_ns,
                          const EventSource& source) {
  const std::string_view key = source.String(stated.key);
  if (key == trace::fact::kCuptiState) Enter(std::string(source.String(stated.value)), time_ns);
  if (key == trace::fact::kCuptiReason) reason_ = source.String(stated.value);
  if (key == trace::fact::kCuptiDropped) {
    if (!absl::SimpleAtoi(std::string(source.String(stated.value)), &dropped_)) dropped_ = 0;
  }
}

void ActivityWatch::Enter(std::string state, uint64_t time_ns) {
  const bool was = is_on();
  state_ = std::move(state);
  if (is_on() && !was) stays_.push_back({.begin = time_ns});
  if (!is_on() && was) stays_.back().end = time_ns;
}

void ActivityWatch::Apply(const trace::Activity& activity, uint64_t /*time_ns*/,
                          const EventSource& /*source*/) {
  if (activity.kind == trace::ActivityKind::kCopy) ++copies_;
  if (activity.kind == trace::ActivityKind::kFill) ++fills_;
  if (activity.kind != trace::ActivityKind::kKernel) return;
  ++kernels_;
  if (activity.block != 0) ++tied_kernels_;
  kernel_time_[activity.device].Add(activity.start_ns, EndOf(activity));
}

uint64_t ActivityWatch::gap_ns() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < stays_.size(); ++i) {
    const uint64_t next = i + 1 < stays_.size() ? stays_[i + 1].begin : last_ns_;
    if (next > stays_[i].end) sum += next - stays_[i].end;
  }
  return sum;
}

bool ActivityWatch::WasOn(uint64_t from, uint64_t to) const {
  return std::any_of(stays_.begin(), stays_.end(),
                     [&](const Stay& stay) { return stay.begin <= from && to <= stay.end; });
}

uint64_t ActivityWatch::StepAt(uint64_t time_ns) const {
  const auto later =
      std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                       [](uint64_t time, const Begun& begun) { return time < begun.time_ns; });
  return later == steps_.begin() ? 0 : std::prev(later)->step;
}

}  // namespace memtrace::analysis
