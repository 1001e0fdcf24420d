// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/search.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/fit/changes/changed_places.h"
#include "tools/fit/cheapest/remedy_trial.h"
#include "tools/fit/sizes/largest_value.h"
#include "tools/fit/sizes/scaling.h"
#include "tools/fit/sizes/smallest_card.h"
#include "tools/fit/trials/card_limit.h"
#include "tools/fit/whole_job.h"

namespace memtrace::fit {
namespace {

constexpr size_t kMostMembers = 3;   // of a combination
constexpr size_t kMostFollowed = 3;  // runs after a climb, each until the step foretold by the last

// Returns how far a run came before memory ran out; launches tell runs within a phase apart.
std::tuple<uint64_t, uint32_t, uint64_t> Progress(const Outcome& outcome) {
  const std::optional<FailedLine> failed = outcome.Failed();
  if (!failed) return {0, 0, 0};
  const uint64_t launches =
      analysis::AnnotatedNumber(outcome.annotations, trace::fact::kSimulationKernelLaunches)
          .value_or(0);
  return {failed->at.step, failed->at.phase_run, launches};
}

bool IsOneOf(const Candidate& candidate, const std::vector<Candidate>& of) {
  return std::any_of(of.begin(), of.end(),
                     [&candidate](const Candidate& other) { return other.name == candidate.name; });
}

// Returns the set of `members` changes in `among` whose trial got furthest before memory ran out;
// of equal ones the least.
std::vector<Candidate> FurthestOf(const Answer& answer, const std::vector<Candidate>& among,
                                  size_t members) {
  const TriedRemedy* furthest = nullptr;
  for (const TriedRemedy& tried : answer.remedies) {
    const bool is_meant = tried.changes.size() == members && tried.had_effect &&
                          std::all_of(tried.changes.begin(), tried.changes.end(),
                                      [&among](const Candidate& of) { return IsOneOf(of, among); });
    if (!is_meant) continue;
    const auto progress = Progress(tried.outcome);
    const bool is_further =
        furthest == nullptr || progress > Progress(furthest->outcome) ||
        (progress == Progress(furthest->outcome) && IsLess(tried.changes, furthest->changes));
    if (is_further) furthest = &tried;
  }
  return furthest == nullptr ? std::vector<Candidate>() : furthest->changes;
}

// True if `a` is better: a set that leaves a margin comes first, then the least work.
bool IsBetter(const TriedRemedy& a, const TriedRemedy& b) {
  const bool has_margin = a.has_margin.value_or(false);
  if (has_margin != b.has_margin.value_or(false)) return has_margin;
  return IsLess(a.changes, b.changes);
}

}  // namespace

absl::Status Search::Run() {
  if (question_.asks_card) {
    answer_.cards = question_.trial.cards;
    answer_.card_bytes = CardBytesOf(question_.trial);
    answer_.job = question_.trial.job;
  }
  answer_.margin_percent = question_.margin_percent;
  if (question_.largest) return question_.whole_job ? FindLargestOfWholeJob() : FindLargest();
  MEMTRACE_RETURN_IF_ERROR(MeasureNeed());
  Trial within = ForSameSteps(question_.trial, answer_.unlimited);
  within.command = WithFirstValues(within.command, question_.Options());
  // Later trials only need the steps that raised the peak of this one.
  question_.trial = question_.whole_job ? ForWholeJob(question_)
                                        : UntilAfterPeakOf(question_.trial, answer_.unlimited);
  if (question_.whole_job) MEMTRACE_RETURN_IF_ERROR(MeasureWholeJob());
  if (question_.asks_card) MEMTRACE_RETURN_IF_ERROR(TryOnCard(std::move(within)));
  if (question_.with_smallest_card && answer_.unlimited.fits()) {
    MEMTRACE_ASSIGN_OR_RETURN(answer_.smallest, FindSmallestCards(question_, run_));
  }
  for (const Variation& variation : question_.scalings) {
    MEMTRACE_ASSIGN_OR_RETURN(Scaling scaling, FindScaling(question_, variation, run_));
    answer_.scalings.push_back(std::move(scaling));
  }
  return absl::OkStatus();
}

// Answers about the program with the largest value.
absl::Status Search::FindLargest() {
  MEMTRACE_ASSIGN_OR_RETURN(LargestValue found, FindLargestValue(question_, run_));
  answer_.unlimited = answer_.within = std::move(found.outcome);
  answer_.has_within = true;
  if (!answer_.within.outlook.is_whole) answer_.gaps = answer_.within.gaps;
  answer_.beyond = std::move(found.beyond);
  answer_.scalings.push_back(std::move(found.scaling));
  return absl::OkStatus();
}

// Answers about the whole job with the largest value; with the least one if none fits. Its usual
// steps are run without the other moments, to tell what they need alone. If the job fits, so do
// they.
absl::Status Search::FindLargestOfWholeJob() {
  Trial usual = question_.trial;
  question_.trial = ForWholeJob(question_);
  MEMTRACE_ASSIGN_OR_RETURN(LargestValue found, FindLargestValue(question_, run_));
  const uint64_t value = found.scaling.largest.value_or(question_.largest->step);
  const Variation told{.name = found.scaling.name, .values = {std::to_string(value)}};
  question_.trial.command = WithFirstValues(question_.trial.command, {told});
  usual.command = WithFirstValues(usual.command, {told});
  std::swap(usual, question_.trial);
  MEMTRACE_RETURN_IF_ERROR(MeasureNeed());
  answer_.within = found.outcome;
  if (!found.outcome.fits()) {
    Trial within = ForSameSteps(question_.trial, answer_.unlimited);
    within.command = WithFirstValues(within.command, question_.Options());
    MEMTRACE_ASSIGN_OR_RETURN(answer_.within, run_(within, Message("on the card")));
  }
  answer_.has_within = true;
  std::swap(usual, question_.trial);
  MEMTRACE_RETURN_IF_ERROR(MeasureWholeJob());
  WholeJob& job = *answer_.whole_job;
  job.has_within = answer_.within.fits();
  job.within = std::move(found.outcome);
  answer_.gaps = GapsAfter(job.within, {});
  job.moments = MomentNeedsOf(answer_);
  if (found.scaling.fails) job.limited_by = LimitingMomentOf(found.beyond, answer_.card_bytes);
  answer_.beyond = std::move(found.beyond);
  answer_.scalings.push_back(std::move(found.scaling));
  return absl::OkStatus();
}

absl::Status Search::MeasureNeed() {
  Trial trial = question_.trial;
  trial.command = WithFirstValues(trial.command, question_.Options());
  MEMTRACE_ASSIGN_OR_RETURN(const Trial unlimited, Unlimited(std::move(trial)));
  MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(unlimited, Message("without a limit")));
  MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, unlimited));
  answer_.unlimited = std::move(outcome);
  return absl::OkStatus();
}

absl::Status Search::MeasureWholeJob() {
  Trial trial = question_.trial;
  trial.command = WithFirstValues(trial.command, question_.Options());
  MEMTRACE_ASSIGN_OR_RETURN(const Trial unlimited, Unlimited(std::move(trial)));
  MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome,
                            run_(unlimited, Message("the whole job, without a limit")));
  MEMTRACE_RETURN_IF_ERROR(CheckCallsAreKnown(outcome, unlimited));
  answer_.whole_job.emplace();
  answer_.whole_job->unlimited = std::move(outcome);
  answer_.whole_job->moments = MomentNeedsOf(answer_);
  return absl::OkStatus();
}

// Runs the job on the card, unless its usual steps do not fit. A job that does not come to its end
// by itself leaves gaps.
absl::Status Search::TryWholeJob() {
  WholeJob& job = *answer_.whole_job;
  if (job.unlimited.completed && answer_.within.fits()) {
    Trial trial = question_.trial;
    trial.command = WithFirstValues(trial.command, question_.Options());
    MEMTRACE_ASSIGN_OR_RETURN(job.within, run_(trial, Message("the whole job, on the card")));
    job.has_within = true;
  }
  answer_.gaps = GapsAfter(job.has_within ? job.within : job.unlimited, answer_.gaps);
  // A job that failed by itself says nothing beyond the moments that it had.
  const bool is_useful = job.within.completed || job.within.Failed();
  job.has_within = job.has_within && is_useful;
  job.moments = MomentNeedsOf(answer_);
  return absl::OkStatus();
}

absl::Status Search::TryOnCard(Trial within) {
  MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(within, Message("on the card")));
  MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, within, &answer_.unlimited));
  answer_.within = std::move(outcome);
  answer_.has_within = true;
  MEMTRACE_ASSIGN_OR_RETURN(within, FollowClimb(std::move(within)));
  if (!answer_.within.outlook.is_whole) answer_.gaps = answer_.within.gaps;
  if (answer_.whole_job) {
    MEMTRACE_RETURN_IF_ERROR(TryWholeJob());
    within = question_.trial;
    within.command = WithFirstValues(within.command, question_.Options());
  }
  if (answer_.fits()) {
    MEMTRACE_ASSIGN_OR_RETURN(answer_.has_margin,
                              HasMargin(within, answer_.deciding(), Message("on the card")));
    return absl::OkStatus();
  }
  const bool is_full = answer_.verdict() != FitVerdict::kNotKnown;
  return question_.with_remedies && is_full ? TryRemedies() : absl::OkStatus();
}

// Runs on to the step in which a climb is foretold to fill the card. A run that does not get there
// in its time, or fails by itself, says nothing that was not known. Returns the trial that the
// answer is of.
absl::StatusOr<Trial> Search::FollowClimb(Trial within) {
  for (size_t i = 0; i < kMostFollowed; ++i) {
    std::optional<Trial> further = UntilFull(within, answer_.within);
    if (!further) break;
    MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(*further, Message("on the card, until step $0",
                                                                      further->least_steps)));
    if (outcome.is_late || !(outcome.completed || outcome.Failed())) break;
    answer_.within = std::move(outcome);
    within = *std::move(further);
  }
  return within;
}

absl::StatusOr<bool> Search::HasMargin(Trial trial, const Outcome& outcome,
                                       std::string_view name) const {
  if (question_.margin_percent == 0) return true;
  MEMTRACE_ASSIGN_OR_RETURN(trial.cards, WithMargin(trial.cards, question_.margin_percent));
  if (IsBelow(outcome, CardBytesOf(trial))) return true;
  MEMTRACE_ASSIGN_OR_RETURN(const Outcome tried, run_(trial, Message("$0, with $1 % less", name,
                                                                     question_.margin_percent)));
  return tried.fits();
}

bool Search::MayBeBest(const std::vector<Candidate>& changes) const {
  if (!answer_.recommended) return true;
  if (answer_.has_plan()) return false;
  const TriedRemedy& best = answer_.remedies[*answer_.recommended];
  return !best.has_margin.value_or(false) || IsLess(changes, best.changes);
}

// Looks for the cheapest plan; if the time of a step is not known, for the smallest change.
absl::Status Search::TryRemedies() {
  answer_.untried = answer_.deciding().edits;
  PlanSearch plans(question_, run_, answer_);
  MEMTRACE_RETURN_IF_ERROR(plans.Run());
  std::vector<Candidate> useful;
  if (!answer_.cheapest) MEMTRACE_RETURN_IF_ERROR(TryEach(plans, useful));
  for (const Variation& variation : question_.variations)
    MEMTRACE_RETURN_IF_ERROR(TryValues(variation, useful));
  // Plans were combinations; only those with values of options are left.
  if (answer_.cheapest && (answer_.recommended || useful.empty())) return absl::OkStatus();
  for (const TriedRemedy& tried : answer_.remedies)
    if (answer_.cheapest && tried.changes.size() == 1 && tried.had_effect && !tried.is_smaller_card)
      useful.push_back(tried.changes.front());
  return TryCombinations(useful);
}

absl::Status Search::TryEach(PlanSearch& plans, std::vector<Candidate>& useful) {
  std::vector<Candidate> to_try;
  for (const Candidate& candidate : AllCandidates())
    if (auto prepared = plans.ToRun(candidate)) to_try.push_back(*std::move(prepared));
  run_.WillRun(plans.FirstTrialsOf(to_try));
  for (const Candidate& candidate : to_try) {
    MEMTRACE_ASSIGN_OR_RETURN(const std::optional<Candidate> largest, plans.Largest(candidate));
    if (!largest) continue;
    MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, TryChanges(question_, run_, {*largest}));
    if (tried.had_effect) useful.push_back(*largest);
    MEMTRACE_RETURN_IF_ERROR(Note(std::move(tried)));
  }
  return absl::OkStatus();
}

// Extends the single candidate that got furthest by others that are less work than the recommended
// set; then, if no pair fits, the pair that got furthest. A set without the furthest candidate
// would fail where that alone no longer does.
absl::Status Search::TryCombinations(const std::vector<Candidate>& useful) {
  std::vector<Candidate> cheaper;
  for (const Candidate& candidate : useful)
    if (MayBeBest({candidate})) cheaper.push_back(candidate);
  std::vector<Candidate> base = FurthestOf(answer_, cheaper, 1);
  for (size_t members = 2; members <= kMostMembers && !base.empty(); ++members) {
    for (const std::vector<Candidate>& changes : Extensions(base, cheaper)) {
      if (!MayBeBest(changes)) break;  // nor may any after it
      MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, TryChanges(question_, run_, changes));
      MEMTRACE_RETURN_IF_ERROR(Note(std::move(tried)));
    }
    base = FurthestOf(answer_, cheaper, members);
  }
  return absl::OkStatus();
}

// Tries the values until one fits.
absl::Status Search::TryValues(const Variation& variation, std::vector<Candidate>& useful) {
  std::optional<Candidate> last;
  for (const Candidate& candidate : CandidatesOf(variation)) {
    MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, TryChanges(question_, run_, {candidate}));
    last = candidate;
    const bool fits = tried.outcome.fits();
    MEMTRACE_RETURN_IF_ERROR(Note(std::move(tried)));
    if (fits) break;
  }
  if (last) useful.push_back(*std::move(last));  // the value that takes least memory
  return absl::OkStatus();
}

// Runs a change with the margin only if it can become the recommendation.
absl::Status Search::Note(TriedRemedy tried) {
  if (tried.outcome.fits() && tried.had_effect && MayBeBest(tried.changes)) {
    MEMTRACE_ASSIGN_OR_RETURN(tried.has_margin, HasMargin(TrialWith(question_, tried.changes),
                                                          tried.outcome, NameOf(tried.changes)));
    const bool is_best =
        !answer_.recommended || IsBetter(tried, answer_.remedies[*answer_.recommended]);
    if (is_best) answer_.recommended = answer_.remedies.size();
  }
  answer_.remedies.push_back(std::move(tried));
  return absl::OkStatus();
}

}  // namespace memtrace::fit
