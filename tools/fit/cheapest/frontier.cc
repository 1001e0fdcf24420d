// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/frontier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/fit/cheapest/plan_space.h"
#include "tools/fit/cheapest/remedy_trial.h"

namespace memtrace::fit {
namespace {

bool HasEffort(const std::vector<Candidate>& changes, remedies::Effort effort) {
  return std::any_of(changes.begin(), changes.end(),
                     [effort](const Candidate& change) { return change.effort == effort; });
}

class PointList {
 public:
  explicit PointList(const Answer& answer) : answer_(answer), space_(answer) {}

  void Add(const std::vector<Candidate>& changes, const Outcome& outcome, bool fits) {
    const auto figures = space_.FiguresOf(outcome);
    if (!figures) return;
    FrontierPoint point{.changes = changes, .time = figures->time, .fits = fits};
    for (const CardNeed& need : Joined(outcome.processes)) {
      if (static_cast<size_t>(need.card) != space_.card()) continue;
      point.needs = need.total;
      point.reserved = need.peak_reserved;
    }
    point.may_change_results = HasEffort(changes, remedies::Effort::kResults);
    point.takes_another_card = HasEffort(changes, remedies::Effort::kMoney);
    points_.push_back(std::move(point));
  }

  void AddTried(size_t place) {
    const TriedRemedy& tried = answer_.remedies[place];
    const bool is_comparable = tried.had_effect && tried.was_run && HasNoOption(tried.changes);
    if (!is_comparable) return;
    const size_t before = points_.size();
    Add(tried.changes, tried.outcome, tried.outcome.fits());
    if (points_.size() == before) return;
    FrontierPoint& point = points_.back();
    point.has_margin = tried.has_margin.value_or(false);
    point.is_plan = answer_.cheapest && answer_.cheapest->plan == place;
  }

  std::vector<FrontierPoint> Take() {
    RemoveRepeated();
    for (FrontierPoint& point : points_)
      point.is_on_frontier =
          std::none_of(points_.begin(), points_.end(),
                       [&point](const FrontierPoint& other) { return Beats(other, point); });
    std::stable_sort(points_.begin(), points_.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    return std::move(points_);
  }

 private:
  // An option of the script may change the work of a step, so that its time says nothing.
  static bool HasNoOption(const std::vector<Candidate>& changes) {
    return std::all_of(changes.begin(), changes.end(),
                       [](const Candidate& change) { return change.option.empty(); });
  }

  static bool Beats(const FrontierPoint& a, const FrontierPoint& b) {
    if (a.has_price() && !b.has_price()) return false;
    const bool is_no_worse = a.needs <= b.needs && a.time <= b.time;
    return is_no_worse && (a.needs < b.needs || a.time < b.time);
  }

  // Keeps the last run of each set of changes: the one on the smaller card.
  void RemoveRepeated() {
    for (size_t i = 0; i < points_.size(); ++i) {
      const bool comes_again = std::any_of(
          points_.begin() + static_cast<std::ptrdiff_t>(i) + 1, points_.end(),
          [&](const auto& later) { return NameOf(later.changes) == NameOf(points_[i].changes); });
      if (comes_again) points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }

  const Answer& answer_;
  PlanSpace space_;
  std::vector<FrontierPoint> points_;
};

}  // namespace

std::vector<FrontierPoint> FrontierOf(const Answer& answer) {
  if (!answer.reference || !answer.cheapest) return {};
  PointList points(answer);
  points.Add({}, *answer.reference, false);
  for (const TriedRemedy& measured : answer.measured)
    points.Add(measured.changes, measured.outcome, false);
  for (size_t place = 0; place < answer.remedies.size(); ++place) points.AddTried(place);
  return points.Take();
}

}  // namespace memtrace::fit
