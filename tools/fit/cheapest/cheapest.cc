// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/cheapest.h"

#include <algorithm>

#include "base/status_macros.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/plans/degree_bracket.h"

namespace memtrace::fit {
namespace {

constexpr size_t kMostMembers = 3;  // of a plan

std::vector<uint64_t> Reduced(std::vector<uint64_t> card_bytes, uint64_t percent) {
  for (uint64_t& bytes : card_bytes) bytes = bytes / 100 * (100 - percent);
  return card_bytes;
}

Plan With(Plan plan, size_t change, uint32_t degree) {
  plan[change] = degree;
  return plan;
}

}  // namespace

CheapestSearch::CheapestSearch(Answer& answer, uint64_t& runs_left, Try run, Expect expect)
    : answer_(answer),
      runs_left_(runs_left),
      run_(std::move(run)),
      expect_(std::move(expect)),
      space_(answer),
      model_(space_.Model()),
      with_margin_{.is_smaller = answer.margin_percent > 0,
                   .choice = {model_, LimitOf(answer.margin_percent)}},
      on_card_{.choice = {model_, LimitOf(0)}} {}

double CheapestSearch::LimitOf(uint64_t percent_less) const {
  const std::vector<uint64_t> bytes = Reduced(answer_.card_bytes, percent_less);
  return space_.card() < bytes.size() ? static_cast<double>(bytes[space_.card()]) : 0;
}

absl::Status CheapestSearch::Run() {
  NoteKnown();
  CheapestPlan cheapest;
  MEMTRACE_RETURN_IF_ERROR(Settle(with_margin_));
  cheapest.plan = BestOf(with_margin_);
  if (cheapest.plan) cheapest.one_less = OneLess(*with_margin_.choice.Best(), with_margin_);
  if (answer_.margin_percent > 0) {
    MEMTRACE_RETURN_IF_ERROR(Settle(on_card_));
    cheapest.without_margin = BestOf(on_card_);
    if (cheapest.without_margin)
      cheapest.one_less_without_margin = OneLess(*on_card_.choice.Best(), on_card_);
  }
  cheapest.is_complete = runs_left_ > 0;
  answer_.recommended = cheapest.plan ? cheapest.plan : cheapest.without_margin;
  answer_.cheapest = std::move(cheapest);
  return absl::OkStatus();
}

// Takes over what is known of the unchanged program and of single changes.
void CheapestSearch::NoteKnown() {
  const Plan nothing = model_.Nothing();
  with_margin_.choice.Note(nothing, false);
  on_card_.choice.Note(nothing, false);
  if (const auto failed = answer_.deciding().Failed())
    model_.Failed(nothing, PlannedPhase(failed->at.phase),
                  LimitOf(0) + static_cast<double>(failed->short_by));
  for (size_t place = 0; place < answer_.remedies.size(); ++place) {
    const TriedRemedy& tried = answer_.remedies[place];
    const std::optional<Plan> plan = space_.PlanOf(tried.changes);
    if (plan && tried.had_effect) Note(*plan, tried, place);
  }
}

// A plan that fits the smaller cards fits the cards; one that does not fit the cards does not fit
// the smaller ones.
void CheapestSearch::Note(const Plan& plan, const TriedRemedy& tried, size_t place) {
  const bool fits = tried.had_effect && tried.outcome.fits();
  const bool leaves_margin =
      fits && (tried.is_smaller_card || answer_.margin_percent == 0 ||
               IsBelow(tried.outcome, Reduced(answer_.card_bytes, answer_.margin_percent)));
  if (leaves_margin || !fits) {
    with_margin_.choice.Note(plan, fits);
    with_margin_.runs[plan] = place;
  }
  if (fits || !tried.is_smaller_card) {
    on_card_.choice.Note(plan, fits);
    on_card_.runs[plan] = place;
  }
  if (leaves_margin) answer_.remedies[place].has_margin = true;
  if (const auto figures = space_.FiguresOf(tried.outcome)) {
    model_.Saw(plan, *figures);
  } else if (const auto failed = tried.outcome.Failed()) {
    const double limit = LimitOf(tried.is_smaller_card ? answer_.margin_percent : 0);
    model_.Failed(plan, PlannedPhase(failed->at.phase),
                  limit + static_cast<double>(failed->short_by));
  }
}

// Runs the plans that are predicted to be best, until none is predicted to be better than the best
// that fits. If none is predicted to fit, runs the one that is predicted to need least.
absl::Status CheapestSearch::Settle(Size& size) {
  bool tried_smallest = false;
  while (runs_left_ > 0) {
    std::optional<Plan> next = size.choice.Next(kMostMembers);
    if (!next && !size.choice.Best() && !tried_smallest) {
      next = size.choice.Smallest(kMostMembers);
      tried_smallest = true;
    }
    if (!next) break;
    MEMTRACE_ASSIGN_OR_RETURN(const bool fits, RunPlan(*next, DearestOf(*next), size));
    if (fits) MEMTRACE_RETURN_IF_ERROR(Refine(*std::move(next), size));
  }
  return absl::OkStatus();
}

// Runs the plan, in which the degree of the change was chosen last.
absl::StatusOr<bool> CheapestSearch::RunPlan(const Plan& plan, size_t change, Size& size) {
  --runs_left_;
  WillRun(plan, change, size);
  MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, run_(space_.ChangesOf(plan), size.is_smaller));
  const size_t place = answer_.remedies.size();
  answer_.remedies.push_back(std::move(tried));
  Note(plan, answer_.remedies[place], place);
  size.runs[plan] = place;
  return size.choice.Fits(plan).value_or(false);
}

// Tells of the run of the plan. If it fits, as predicted, one degree less of the change is run
// next.
void CheapestSearch::WillRun(const Plan& plan, size_t change, const Size& size) const {
  std::vector<std::vector<Candidate>> runs = {space_.ChangesOf(plan)};
  const bool will_fit = change < plan.size() && model_.At(plan).most() <= size.choice.limit();
  if (will_fit && runs_left_ > 0) {
    const Plan less = With(plan, change, plan[change] - 1);
    if (SizeOf(less) > 0 && !size.runs.contains(less)) runs.push_back(space_.ChangesOf(less));
  }
  expect_(runs, size.is_smaller);
}

// Returns the change with degrees that takes most time; the number of changes if there is none.
size_t CheapestSearch::DearestOf(const Plan& plan) const {
  const std::vector<size_t> changes = ByTime(plan);
  return changes.empty() ? plan.size() : changes.front();
}

// Lowers the degrees of a plan that fits as far as it fits, those that take most time first.
absl::Status CheapestSearch::Refine(Plan plan, Size& size) {
  for (const size_t change : ByTime(plan))
    MEMTRACE_RETURN_IF_ERROR(RefineDegree(change, plan, size));
  return absl::OkStatus();
}

absl::Status CheapestSearch::RefineDegree(size_t change, Plan& plan, Size& size) {
  uint32_t fails = plan[change];
  while (fails > 0) {
    --fails;
    if (!size.choice.Fits(With(plan, change, fails)).value_or(true)) break;
  }
  DegreeBracket bracket(fails, plan[change]);
  while (!bracket.is_closed() && runs_left_ > 0) {
    const uint32_t degree = bracket.Next(PredictedDegree(plan, change, size));
    MEMTRACE_ASSIGN_OR_RETURN(const bool fits, RunPlan(With(plan, change, degree), change, size));
    bracket.Note(degree, fits);
  }
  plan[change] = bracket.fits();
  // A failure of a larger plan tells that one degree less fails; only its own run proves it.
  const Plan one_less = With(plan, change, plan[change] - 1);
  const bool is_proven = size.runs.contains(one_less) || SizeOf(one_less) == 0;
  if (is_proven || !bracket.is_closed() || runs_left_ == 0) return absl::OkStatus();
  MEMTRACE_ASSIGN_OR_RETURN(const bool fits, RunPlan(one_less, change, size));
  if (fits) plan = one_less;
  return absl::OkStatus();
}

// Returns the changes of a plan that have degrees, those that take most time first.
std::vector<size_t> CheapestSearch::ByTime(const Plan& plan) const {
  std::vector<size_t> changes;
  for (size_t change = 0; change < plan.size(); ++change)
    if (plan[change] > 0 && model_.changes()[change].degrees() > 1) changes.push_back(change);
  const auto without = [&](size_t change) { return model_.At(With(plan, change, 0)).time; };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](size_t a, size_t b) { return without(a) < without(b); });
  return changes;
}

// Returns the least degree that is predicted to fit, at most that of the plan.
uint32_t CheapestSearch::PredictedDegree(Plan plan, size_t change, const Size& size) const {
  const uint32_t most = plan[change];
  for (plan[change] = 1; plan[change] < most; ++plan[change])
    if (model_.At(plan).most() <= size.choice.limit()) break;
  return plan[change];
}

// Returns the runs with one degree less of one change, none of which fits.
std::vector<size_t> CheapestSearch::OneLess(const Plan& plan, const Size& size) const {
  std::vector<size_t> places;
  for (const size_t change : ByTime(plan)) {
    const auto run = size.runs.find(With(plan, change, plan[change] - 1));
    if (run != size.runs.end()) places.push_back(run->second);
  }
  return places;
}

std::optional<size_t> CheapestSearch::BestOf(const Size& size) const {
  const std::optional<Plan> best = size.choice.Best();
  if (!best) return std::nullopt;
  const auto run = size.runs.find(*best);
  return run == size.runs.end() ? std::nullopt : std::optional(run->second);
}

}  // namespace memtrace::fit
