// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHEAPEST_CHEAPEST_H_
#define MEMTRACE_TOOLS_FIT_CHEAPEST_CHEAPEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/cheapest/plan_space.h"
#include "tools/fit/plans/plan_choice.h"
#include "tools/fit/plans/plan_model.h"

namespace memtrace::fit {

// Finds the plan of changes with which a step takes the least time, of all that fit: first on cards
// smaller by the margin, then on the cards themselves. A model chooses which plan to run; each
// answer is a run. A plan with degrees fits, and was run with one degree less, where it does not.
//
// Thread rule: one thread at a time.
class CheapestSearch {
 public:
  // Runs the program with changes, on cards smaller by the margin if `on_smaller_card`.
  using Try = std::function<absl::StatusOr<TriedRemedy>(const std::vector<Candidate>& changes,
                                                        bool on_smaller_card)>;
  // Is told of the runs that Try will make next, or is likely to, by their changes.
  using Expect =
      std::function<void(const std::vector<std::vector<Candidate>>& runs, bool on_smaller_card)>;

  // Adds its runs to the answer's remedies, and takes them from `runs_left`. Requires the answer's
  // single changes, and its run for reference.
  CheapestSearch(Answer& answer, uint64_t& runs_left, Try run, Expect expect);

  // Returns the errors of the runs. The answer then has the plan, and recommends it if there is
  // one.
  absl::Status Run();

 private:
  // The question for one size of the cards.
  struct Size {
    bool is_smaller = false;
    PlanChoice choice;
    std::map<Plan, size_t> runs = {};  // places in the answer's remedies
  };

  void NoteKnown();
  void Note(const Plan& plan, const TriedRemedy& tried, size_t place);
  absl::Status Settle(Size& size);
  absl::StatusOr<bool> RunPlan(const Plan& plan, size_t change, Size& size);
  void WillRun(const Plan& plan, size_t change, const Size& size) const;
  size_t DearestOf(const Plan& plan) const;
  absl::Status Refine(Plan plan, Size& size);
  absl::Status RefineDegree(size_t change, Plan& plan, Size& size);
  std::vector<size_t> ByTime(const Plan& plan) const;
  uint32_t PredictedDegree(Plan plan, size_t change, const Size& size) const;
  std::vector<size_t> OneLess(const Plan& plan, const Size& size) const;
  std::optional<size_t> BestOf(const Size& size) const;
  double LimitOf(uint64_t percent_less) const;

  Answer& answer_;
  uint64_t& runs_left_;
  Try run_;
  Expect expect_;
  PlanSpace space_;
  PlanModel model_;
  Size with_margin_;
  Size on_card_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHEAPEST_CHEAPEST_H_
