// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_PLANS_PLAN_CHOICE_H_
#define MEMTRACE_TOOLS_FIT_PLANS_PLAN_CHOICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "tools/fit/plans/plan_model.h"

namespace memtrace::fit {

// How good a plan is; the smaller the better.
using PlanRank = std::tuple<uint32_t, int64_t, uint32_t, size_t, double>;

// Chooses which plan to run next, from a model's predictions and from the runs so far.
//
// Thread rule: one thread at a time.
class PlanChoice {
 public:
  // `limit`: the bytes that a plan may need. Uses the model as it changes.
  PlanChoice(const PlanModel& model, double limit) : model_(model), limit_(limit) {}

  double limit() const { return limit_; }

  // Notes if a run of the plan stayed within the limit. A plan that makes less than one that
  // failed is taken to fail too.
  void Note(const Plan& plan, bool fits) { fits_[plan] = fits; }

  // Returns if the plan fits, as far as runs tell.
  std::optional<bool> Fits(const Plan& plan) const;

  // Orders plans by kind, by time to a hundredth, by effort, by their number of changes, and by
  // their exact time.
  PlanRank RankOf(const Plan& plan) const;

  // Returns the best plan that fitted.
  std::optional<Plan> Best() const;

  // Returns the plan that is predicted to fit and to be better than all that did, of those that no
  // run told about; of plans with `members` changes at most. Nothing: there is none.
  std::optional<Plan> Next(size_t members) const;

  // Returns the plan that is predicted to need least, of those that no run told about.
  std::optional<Plan> Smallest(size_t members) const;

 private:
  bool IsKnownToFail(const Plan& plan) const;
  bool IsPredictedToFit(const Plan& plan) const { return model_.At(plan).most() <= limit_; }

  const PlanModel& model_;
  double limit_;
  std::map<Plan, bool> fits_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_PLANS_PLAN_CHOICE_H_
