// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/step_curve.h"

#include <algorithm>
#include <utility>

namespace memtrace::analysis {

void StepCurve::BeginStep(uint64_t number) {
  uint64_t highest = 0;
  for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
    highest = std::max(highest, point->level + point->requested);
    point->level = highest - point->level;
  }
  previous_number_ = std::exchange(number_, number);
  previous_.swap(points_);
  points_.clear();
}

void StepCurve::Allocated(trace::StackId stack, uint64_t requested, uint64_t level) {
  if (number_ != 0) points_.push_back({stack, requested, level});
}

std::optional<uint64_t> StepCurve::RiseFrom(uint64_t requested) const {
  if (previous_number_ < 2 || points_.size() >= previous_.size()) return std::nullopt;
  const Point& same = previous_[points_.size()];
  if (same.requested != requested) return std::nullopt;
  return same.level;
}

std::optional<uint64_t> StepCurve::RiseFromSameRequest(trace::StackId stack,
                                                       uint64_t requested) const {
  const auto is_same = [=](const Point& point) {
    return point.stack == stack && point.requested == requested;
  };
  auto left = std::count_if(points_.begin(), points_.end(), is_same);
  const auto same = std::find_if(previous_.begin(), previous_.end(),
                                 [&](const Point& point) { return is_same(point) && left-- == 0; });
  return same == previous_.end() ? std::nullopt : std::optional(same->level);
}

}  // namespace memtrace::analysis
