// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/plan_search.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/changes/changed_places.h"
#include "tools/fit/changes/untried.h"
#include "tools/fit/cheapest/cheapest.h"
#include "tools/fit/cheapest/plan_space.h"
#include "tools/fit/cheapest/remedy_trial.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::fit {
namespace {

using remedies::Effort;
using trace::Phase;

// The runs that changes tried alone leave to plans, if they may alter results.
constexpr uint64_t kRunsForPlans = 8;

// A phase that needs less than this share of the card is not short, whatever the holes in it.
constexpr double kIsShort = 0.9;

bool KeepsResults(const Candidate& candidate) { return candidate.effort < Effort::kResults; }

// True if the change may take time off a step, so that it is worth a run where memory is enough.
bool MayBeFaster(const Candidate& candidate) {
  return candidate.degrees.id == remedies::Id::kFused ||
         candidate.degrees.id == remedies::Id::kFreeze;
}

// True for a change of which one place is run, without a limit: the host would have to hold the
// activations of all.
bool IsDearOnHost(const Candidate& candidate) {
  return candidate.degrees.id == remedies::Id::kActivationsOnHost;
}

// Returns the bits of SavesIn of a phase.
uint8_t BitOf(size_t phase) {
  switch (static_cast<Phase>(phase)) {
    case Phase::kOther:
    case Phase::kInit:
      return remedies::kInStart;
    case Phase::kRecompute:
    case Phase::kBackward:
      return remedies::kInBackward;
    case Phase::kOptimizer:
      return remedies::kInOptimizer;
    default:
      return remedies::kInForward;
  }
}

// Returns the words that let each hook count its places and change none.
std::string LookWords(const analysis::Annotations& annotations) {
  std::string words;
  for (const Candidate& candidate : PlanCandidates()) {
    // Without another card there is no place on it.
    if (candidate.hook.empty() || candidate.takes_another_card) continue;
    if (!MissingPackage(candidate, annotations).empty()) continue;
    absl::StrAppend(&words, words.empty() ? "" : ",", candidate.hook, "=0");
  }
  return words;
}

}  // namespace

absl::Status PlanSearch::Run() {
  answer_.reference.reset();
  if (!answer_.unlimited.time()) return absl::OkStatus();
  MEMTRACE_RETURN_IF_ERROR(RunReference());
  if (!answer_.reference) return absl::OkStatus();
  std::vector<Candidate> later;
  for (Candidate& candidate : PlanCandidates()) {
    const bool waits = !KeepsResults(candidate) && (SomethingFits() || !HasRuns(kRunsForPlans));
    if (waits) {
      later.push_back(std::move(candidate));
    } else {
      MEMTRACE_RETURN_IF_ERROR(TryAlone(std::move(candidate)));
    }
  }
  MEMTRACE_RETURN_IF_ERROR(FindCheapest());
  for (Candidate& candidate : later) MEMTRACE_RETURN_IF_ERROR(TryAlone(std::move(candidate)));
  return absl::OkStatus();
}

// Runs the unchanged program for as many steps as the changes: later steps have other data. Hooks
// count their places in it. If the program fails with them, it is run without: then changes are not
// tried in degrees.
absl::Status PlanSearch::RunReference() {
  MEMTRACE_ASSIGN_OR_RETURN(Trial trial, Unlimited(TrialWith(question_, {})));
  for (const std::string& looks : {LookWords(answer_.unlimited.annotations), std::string()}) {
    trial.changes = looks;
    MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(trial, Message("without a change, again")));
    if (!outcome.completed) continue;
    if (outcome.time() && outcome.time()->is_whole()) answer_.reference = std::move(outcome);
    break;
  }
  return absl::OkStatus();
}

// Finds the candidate's places. Returns false, after noting it as without effect, if there are
// none.
bool PlanSearch::HasPlaces(Candidate& candidate) {
  const auto found = ChangedPlacesOf(answer_.reference->annotations, candidate.hook);
  if (candidate.hook.empty() || !found) return true;
  candidate.of = static_cast<uint32_t>(found->of);
  if (found->of > 0) return true;
  answer_.remedies.push_back(
      {.changes = {candidate}, .outcome = {}, .had_effect = false, .was_run = false});
  return false;
}

// True if the change saves memory in a phase that is short of it.
bool PlanSearch::CanHelp(const Candidate& candidate) const {
  if (candidate.hook.empty()) return true;
  const PlanSpace space(answer_);
  const auto figures = space.FiguresOf(*answer_.reference);
  if (!figures || space.card() >= answer_.card_bytes.size()) return true;
  const double card = static_cast<double>(answer_.card_bytes[space.card()]) / 100 *
                      static_cast<double>(100 - answer_.margin_percent);
  for (size_t phase = 0; phase < figures->needs.size(); ++phase) {
    const bool is_short = figures->needs[phase] > kIsShort * card;
    if (is_short && (candidate.degrees.saves_in & BitOf(phase)) != 0) return true;
  }
  return false;
}

// Runs a change on the card, and without a limit if it fails there.
absl::Status PlanSearch::TryAlone(Candidate candidate) {
  // In a job the other cards belong to other ranks.
  if (question_.trial.job && candidate.takes_another_card) return absl::OkStatus();
  const std::string package = MissingPackage(candidate, answer_.deciding().annotations);
  if (!package.empty()) {
    answer_.untried.push_back({candidate.name, candidate.change, candidate.cost, package});
    return absl::OkStatus();
  }
  if (!HasPlaces(candidate) || !HasRuns()) return absl::OkStatus();
  candidate.degree = DegreeAlone(candidate);
  if (!CanHelp(candidate)) {
    if (MayBeFaster(candidate)) return MeasureAlone(candidate);
    answer_.useless.push_back(std::move(candidate));
    return absl::OkStatus();
  }
  if (IsDearOnHost(candidate)) return MeasureAlone(candidate);
  --runs_left_;
  MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, TryChanges(question_, run_, {candidate}));
  // A run that fails before the change's moment, such as an optimizer's first step, made it
  // nowhere.
  tried.had_effect = tried.had_effect || (candidate.of > 0 && tried.outcome.Failed());
  const bool is_to_measure = tried.had_effect && tried.outcome.Failed() && !candidate.hook.empty();
  answer_.remedies.push_back(std::move(tried));
  return is_to_measure && !answer_.cheapest ? MeasureAlone(candidate) : absl::OkStatus();
}

absl::Status PlanSearch::MeasureAlone(const Candidate& candidate) {
  if (!HasRuns()) return absl::OkStatus();
  --runs_left_;
  MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy measured,
                            TryChanges(question_, run_, {candidate}, TrialCards::kUnlimited));
  if (measured.had_effect) answer_.measured.push_back(std::move(measured));
  return absl::OkStatus();
}

bool PlanSearch::SomethingFits() const {
  return std::any_of(answer_.remedies.begin(), answer_.remedies.end(),
                     [](const auto& tried) { return tried.had_effect && tried.outcome.fits(); });
}

absl::Status PlanSearch::FindCheapest() {
  const auto run = [this](const std::vector<Candidate>& changes, bool on_smaller_card) {
    return TryChanges(question_, run_, changes,
                      on_smaller_card ? TrialCards::kSmallerByMargin : TrialCards::kGiven);
  };
  return CheapestSearch(answer_, runs_left_, run).Run();
}

}  // namespace memtrace::fit
