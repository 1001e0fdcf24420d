// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/plan_model.h"

#include <algorithm>
#include <functional>

namespace memtrace::fit {
namespace {

// Returns the figures `share` of the way from `a` to `b`.
PlanFigures Between(const PlanFigures& a, const PlanFigures& b, double share) {
  PlanFigures between;
  for (size_t phase = 0; phase < a.needs.size(); ++phase)
    between.needs[phase] = a.needs[phase] + share * (b.needs[phase] - a.needs[phase]);
  between.time = a.time + share * (b.time - a.time);
  return between;
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
  const PhaseBytes correction = CorrectionOf(plan);
  for (size_t phase = 0; phase < correction.size(); ++phase)
    figures.needs[phase] += correction[phase];
  return figures;
}

// Returns the figures of one change, linear between the degrees that were seen.
PlanFigures PlanModel::Alone(size_t change, uint32_t degree) const {
  const std::map<uint32_t, PlanFigures>& seen = changes_[change].seen;
  const auto above = seen.lower_bound(degree);
  if (above == seen.end()) return seen.empty() ? unchanged_ : seen.rbegin()->second;
  const uint32_t from = above == seen.begin() ? 0 : std::prev(above)->first;
  const PlanFigures& below = above == seen.begin() ? unchanged_ : std::prev(above)->second;
  const double share = static_cast<double>(degree - from) / static_cast<double>(above->first - from);
  return Between(below, above->second, share);
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

// Returns what the set's own runs showed; else what those of the unchanged program did, whose holes
// stay under the same allocator.
PhaseBytes PlanModel::CorrectionOf(const Plan& plan) const {
  const auto own = corrections_.find(MembersOf(plan));
  if (own != corrections_.end()) return own->second;
  for (size_t change = 0; change < plan.size(); ++change)
    if (plan[change] > 0 && changes_[change].changes_allocator) return {};
  const auto unchanged = corrections_.find(MembersOf(Nothing()));
  return unchanged == corrections_.end() ? PhaseBytes{} : unchanged->second;
}

void PlanModel::Saw(const Plan& plan, const PlanFigures& figures) {
  if (SizeOf(plan) == 1) {
    const auto change = static_cast<size_t>(
        std::find_if(plan.begin(), plan.end(), [](uint32_t degree) { return degree > 0; }) -
        plan.begin());
    changes_[change].seen[plan[change]] = figures;
  } else if (SizeOf(plan) > 1) {
    const PlanFigures predicted = Predicted(plan);
    PhaseBytes& correction = corrections_[MembersOf(plan)];
    for (size_t phase = 0; phase < correction.size(); ++phase)
      correction[phase] = figures.needs[phase] - predicted.needs[phase];
  }
  seen_[plan] = figures;
}

void PlanModel::Failed(const Plan& plan, size_t phase, double bytes) {
  PhaseBytes correction = CorrectionOf(plan);
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
