// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/plan_model.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace memtrace::fit {
namespace {

// Returns how far `at` lies from `from` to `to`.
double ShareOf(double at, double from, double to) { return (at - from) / (to - from); }

// Returns the value of a degree; 0 for degree 0, which is no change.
double ValueAt(const std::vector<double>& values, uint32_t degree) {
  return degree == 0 ? 0 : values[degree - 1];
}

}  // namespace

PlanModel::PlanModel(const PlanFigures& unchanged, std::vector<PlanChange> changes)
    : unchanged_(unchanged), changes_(std::move(changes)) {
  seen_[Nothing()] = unchanged;
}

PlanFigures PlanModel::At(const Plan& plan) const {
  const auto seen = seen_.find(plan);
  if (seen != seen_.end()) return seen->second;
  PlanFigures figures = Predicted(plan);
  const PhaseNeeds correction = CorrectionOf(plan);
  for (size_t phase = 0; phase < correction.size(); ++phase)
    figures.needs[phase] += correction[phase];
  return figures;
}

// Returns the figures of one change, linear between the degrees that were seen.
PlanFigures PlanModel::Alone(size_t change, uint32_t degree) const {
  const PlanChange& of = changes_[change];
  auto above = of.seen.lower_bound(degree);
  if (above == of.seen.end()) {
    if (of.seen.empty()) return unchanged_;
    above = std::prev(above);
  }
  const bool is_first = above == of.seen.begin();
  const uint32_t from = is_first ? 0 : std::prev(above)->first;
  const PlanFigures& below = is_first ? unchanged_ : std::prev(above)->second;
  const auto share = [&](const std::vector<double>& values) {
    return ShareOf(ValueAt(values, degree), ValueAt(values, from), ValueAt(values, above->first));
  };
  const double saved = share(of.saves);
  PlanFigures figures;
  for (size_t phase = 0; phase < figures.needs.size(); ++phase)
    figures.needs[phase] =
        below.needs[phase] + saved * (above->second.needs[phase] - below.needs[phase]);
  figures.time = below.time + share(of.takes) * (above->second.time - below.time);
  return figures;
}

PlanFigures PlanModel::Predicted(const Plan& plan) const {
  PlanFigures figures = unchanged_;
  for (size_t change = 0; change < plan.size(); ++change) {
    if (plan[change] == 0) continue;
    const PlanFigures alone = Alone(change, plan[change]);
    for (size_t phase = 0; phase < figures.needs.size(); ++phase)
      figures.needs[phase] += alone.needs[phase] - unchanged_.needs[phase];
    figures.time *= alone.time;
  }
  return figures;
}

// Returns what runs of the set showed; else those of the largest set within it under the same
// allocator, whose holes stay.
PhaseNeeds PlanModel::CorrectionOf(const Plan& plan) const {
  const Members members = MembersOf(plan);
  const PhaseNeeds* correction = nullptr;
  std::ptrdiff_t largest = -1;
  for (const auto& [of, bytes] : corrections_) {
    const std::ptrdiff_t size = std::count(of.begin(), of.end(), true);
    if (size <= largest || !IsWithin(of, members)) continue;
    correction = &bytes;
    largest = size;
  }
  return correction == nullptr ? PhaseNeeds{} : *correction;
}

// True if `members` has all of `set`, and no other allocator.
bool PlanModel::IsWithin(const Members& set, const Members& members) const {
  for (size_t change = 0; change < set.size(); ++change) {
    if (set[change] && !members[change]) return false;
    if (set[change] != members[change] && changes_[change].changes_allocator) return false;
  }
  return true;
}

void PlanModel::Saw(const Plan& plan, const PlanFigures& figures) {
  if (SizeOf(plan) == 1) {
    const auto change = static_cast<size_t>(
        std::find_if(plan.begin(), plan.end(), [](uint32_t degree) { return degree > 0; }) -
        plan.begin());
    changes_[change].seen[plan[change]] = figures;
  } else if (SizeOf(plan) > 1) {
    const PlanFigures predicted = Predicted(plan);
    PhaseNeeds& correction = corrections_[MembersOf(plan)];
    for (size_t phase = 0; phase < correction.size(); ++phase)
      correction[phase] = figures.needs[phase] - predicted.needs[phase];
  }
  seen_[plan] = figures;
}

void PlanModel::Failed(const Plan& plan, size_t phase, double bytes) {
  PhaseNeeds correction = CorrectionOf(plan);
  const double predicted = Predicted(plan).needs[phase];
  correction[phase] = std::max(correction[phase], bytes - predicted);
  corrections_[MembersOf(plan)] = correction;
}

PlanModel::Members PlanModel::MembersOf(const Plan& plan) {
  Members members;
  members.reserve(plan.size());
  for (const uint32_t degree : plan) members.push_back(degree > 0);
  return members;
}

size_t SizeOf(const Plan& plan) {
  return static_cast<size_t>(
      std::count_if(plan.begin(), plan.end(), [](uint32_t degree) { return degree > 0; }));
}

bool Contains(const Plan& plan, const Plan& other) {
  return std::equal(plan.begin(), plan.end(), other.begin(), other.end(), std::greater_equal<>());
}

}  // namespace memtrace::fit
