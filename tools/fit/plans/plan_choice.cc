// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/plan_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace memtrace::fit {
namespace {

using Visit = std::function<void(const Plan&)>;

bool Conflicts(const PlanChange& change, const Plan& plan) {
  return std::any_of(change.conflicts.begin(), change.conflicts.end(),
                     [&plan](size_t other) { return plan[other] > 0; });
}

// Visits `plan`, and it with up to `members` changes from `first` on in all their degrees.
void VisitPlans(const std::vector<PlanChange>& changes, size_t first, size_t members, Plan& plan,
                const Visit& visit) {
  visit(plan);
  if (members == 0) return;
  for (size_t change = first; change < changes.size(); ++change) {
    if (Conflicts(changes[change], plan)) continue;
    for (uint32_t degree = 1; degree <= changes[change].degrees(); ++degree) {
      plan[change] = degree;
      VisitPlans(changes, change + 1, members - 1, plan, visit);
    }
    plan[change] = 0;
  }
}

void VisitPlans(const PlanModel& model, size_t members, const Visit& visit) {
  Plan plan = model.Nothing();
  VisitPlans(model.changes(), 0, members, plan, visit);
}

}  // namespace

bool PlanChoice::IsKnownToFail(const Plan& plan) const {
  return std::any_of(fits_.begin(), fits_.end(), [&plan](const auto& ran) {
    return !ran.second && Contains(ran.first, plan);
  });
}

std::optional<bool> PlanChoice::Fits(const Plan& plan) const {
  const auto ran = fits_.find(plan);
  if (ran != fits_.end()) return ran->second;
  return IsKnownToFail(plan) ? std::optional(false) : std::nullopt;
}

PlanRank PlanChoice::RankOf(const Plan& plan) const {
  const double time = model_.At(plan).time;
  uint32_t kind = 0;
  uint32_t effort = 0;
  for (size_t change = 0; change < plan.size(); ++change) {
    if (plan[change] == 0) continue;
    kind = std::max(kind, model_.changes()[change].kind);
    effort = std::max(effort, model_.changes()[change].effort);
  }
  return {kind, std::lround(time * 100), effort, SizeOf(plan), time};
}

std::optional<Plan> PlanChoice::Best() const {
  std::optional<Plan> best;
  for (const auto& [plan, fits] : fits_)
    if (fits && (!best || RankOf(plan) < RankOf(*best))) best = plan;
  return best;
}

std::optional<Plan> PlanChoice::Next(size_t members) const {
  const std::optional<Plan> best = Best();
  std::optional<Plan> next;
  std::optional<PlanRank> rank;
  if (best) rank = RankOf(*best);
  VisitPlans(model_, members, [&](const Plan& plan) {
    if (!IsPredictedToFit(plan)) return;
    const PlanRank of_plan = RankOf(plan);
    if ((rank && of_plan >= *rank) || Fits(plan)) return;
    next = plan;
    rank = of_plan;
  });
  return next;
}

std::optional<Plan> PlanChoice::Smallest(size_t members) const {
  std::optional<Plan> smallest;
  double least = 0;
  VisitPlans(model_, members, [&](const Plan& plan) {
    const double needs = model_.At(plan).most();
    if ((smallest && needs >= least) || Fits(plan)) return;
    smallest = plan;
    least = needs;
  });
  return smallest;
}

}  // namespace memtrace::fit
