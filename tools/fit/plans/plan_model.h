// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_PLANS_PLAN_MODEL_H_
#define MEMTRACE_TOOLS_FIT_PLANS_PLAN_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/fit/plans/plan_figures.h"

namespace memtrace::fit {

// The degree of each change that a model knows; 0: the change is not made.
using Plan = std::vector<uint32_t>;

// A change of a program, as a model sees it.
struct PlanChange {
  // For each degree from 1 on, the memory that it saves and the time that it takes, in any unit:
  // they say where it lies between two degrees whose figures are known.
  std::vector<double> saves = {1};
  std::vector<double> takes = {1};
  uint32_t kind = 0;                   // plans of a lower kind are better, whatever their time
  uint32_t effort = 0;                 // orders plans that take equal time
  std::vector<size_t> conflicts = {};  // changes that cannot be made beside it
  bool changes_allocator = false;      // another allocator's holes say nothing about this one's
  // Figures of the program with this change alone, by degree.
  std::map<uint32_t, PlanFigures> seen = {};

  uint32_t degrees() const { return static_cast<uint32_t>(saves.size()); }
};

// Predicts memory and time of a program with several changes from runs with few of them. Savings of
// changes add up in each phase, and ratios of time multiply. Both are linear between two degrees
// that were seen, and beyond the last one. What runs of a set of changes showed corrects all predictions of that set.
//
// Thread rule: one thread at a time.
class PlanModel {
 public:
  PlanModel(const PlanFigures& unchanged, std::vector<PlanChange> changes);

  const std::vector<PlanChange>& changes() const { return changes_; }
  Plan Nothing() const { return Plan(changes_.size(), 0); }

  // Returns what was seen if the plan was run, else the prediction.
  PlanFigures At(const Plan& plan) const;

  // Notes the figures of a run.
  void Saw(const Plan& plan, const PlanFigures& figures);

  // Notes that a run failed in `phase`, where it needed at least `bytes`.
  void Failed(const Plan& plan, size_t phase, double bytes);

 private:
  using Members = std::vector<bool>;  // the changes that a plan makes

  PlanFigures Alone(size_t change, uint32_t degree) const;
  PlanFigures Predicted(const Plan& plan) const;
  PhaseNeeds CorrectionOf(const Plan& plan) const;
  bool IsWithin(const Members& set, const Members& members) const;
  static Members MembersOf(const Plan& plan);

  PlanFigures unchanged_;
  std::vector<PlanChange> changes_;
  std::map<Plan, PlanFigures> seen_;
  std::map<Members, PhaseNeeds> corrections_;
};

// Returns the number of changes that a plan makes.
size_t SizeOf(const Plan& plan);

// True if `plan` makes each change of `other` in at least its degree.
bool Contains(const Plan& plan, const Plan& other);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_PLANS_PLAN_MODEL_H_
