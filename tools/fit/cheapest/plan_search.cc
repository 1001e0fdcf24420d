// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/plan_search.h"

#include <algorithm>
#include <iterator>
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
  for (const Candidate& candidate : AllCandidates()) {
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
  MEMTRACE_RETURN_IF_ERROR(RunReference());
  if (!answer_.reference) return absl::OkStatus();
  std::vector<Candidate> later;
  const std::vector<Candidate> candidates = AllCandidates();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const bool waits = !KeepsResults(candidates[i]) && (SomethingFits() || !HasRuns(kRunsForPlans));
    if (waits) {
      later.push_back(candidates[i]);
      continue;
    }
    // The later ones that keep results are certain to be tried.
    std::vector<Candidate> next = {candidates[i]};
    std::copy_if(candidates.begin() + static_cast<std::ptrdiff_t>(i) + 1, candidates.end(),
                 std::back_inserter(next), KeepsResults);
    WillTryAlone(next);
    MEMTRACE_RETURN_IF_ERROR(TryAlone(candidates[i]));
  }
  MEMTRACE_RETURN_IF_ERROR(FindCheapest());
  for (size_t i = 0; i < later.size(); ++i) {
    WillTryAlone(std::span(later).subspan(i));
    MEMTRACE_RETURN_IF_ERROR(TryAlone(later[i]));
  }
  run_.WillRun({});
  return absl::OkStatus();
}

// Runs the unchanged program for as many steps as the changes: later steps have other data. Hooks
// count their places in it. If the program fails with them, it is run without: then changes are not
// tried in degrees. That tells nothing if the time of a step is not known either.
absl::Status PlanSearch::RunReference() {
  MEMTRACE_ASSIGN_OR_RETURN(Trial trial, Unlimited(TrialWith(question_, {})));
  for (const std::string& looks : {LookWords(answer_.unlimited.annotations), std::string()}) {
    trial.changes = looks;
    MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(trial, Message("without a change, again")));
    if (outcome.completed) {
      if (outcome.time() && outcome.time()->is_whole()) answer_.reference = outcome;
      unchanged_ = std::move(outcome);
      break;
    }
    if (!answer_.unlimited.time()) break;
  }
  return absl::OkStatus();
}

// In a job the other cards belong to other ranks.
bool PlanSearch::IsOfOtherRanks(const Candidate& candidate) const {
  return question_.trial.job && candidate.takes_another_card;
}

bool PlanSearch::HasNoPlaces(const Candidate& candidate) const {
  if (candidate.hook.empty() || !unchanged_) return false;
  const auto found = ChangedPlacesOf(unchanged_->annotations, candidate.hook);
  return found && found->of == 0;
}

// Returns the candidate with its places, and the degree with which it is tried alone.
Candidate PlanSearch::Prepared(Candidate candidate) const {
  if (!candidate.hook.empty() && unchanged_) {
    const auto found = ChangedPlacesOf(unchanged_->annotations, candidate.hook);
    if (found) candidate.of = static_cast<uint32_t>(found->of);
  }
  candidate.degree = DegreeAlone(candidate);
  return candidate;
}

// Returns the cards on which a change is tried first, alone; nothing if it is not run.
std::optional<TrialCards> PlanSearch::FirstCardsOf(const Candidate& candidate) const {
  const bool can_help = CanHelp(candidate);
  if (can_help && !IsDearOnHost(candidate)) return TrialCards::kGiven;
  if (can_help || MayBeFaster(candidate)) return TrialCards::kUnlimited;
  return std::nullopt;
}

// Tells the runner of the first runs of these candidates.
void PlanSearch::WillTryAlone(std::span<const Candidate> candidates) const {
  std::vector<Trial> trials;
  for (const Candidate& of : candidates) {
    const bool is_not_run = IsOfOtherRanks(of) || HasNoPlaces(of) ||
                            !MissingPackage(of, answer_.deciding().annotations).empty();
    const Candidate candidate = Prepared(of);
    const std::optional<TrialCards> cards = is_not_run ? std::nullopt : FirstCardsOf(candidate);
    if (!cards || !HasRuns(trials.size())) continue;
    absl::StatusOr<Trial> trial = TrialOn(*cards, question_, {candidate});
    if (trial.ok()) trials.push_back(*std::move(trial));
  }
  run_.WillRun(trials);
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

std::optional<Candidate> PlanSearch::ToRun(Candidate candidate) {
  if (IsOfOtherRanks(candidate)) return std::nullopt;
  const std::string package = MissingPackage(candidate, answer_.deciding().annotations);
  if (!package.empty()) {
    answer_.untried.push_back({candidate.name, candidate.change, candidate.cost, package});
    return std::nullopt;
  }
  if (!HasNoPlaces(candidate)) return Prepared(std::move(candidate));
  NoteWithoutPlaces(std::move(candidate));
  return std::nullopt;
}

void PlanSearch::NoteWithoutPlaces(Candidate candidate) {
  candidate.degree = 0;
  answer_.remedies.push_back(
      {.changes = {std::move(candidate)}, .outcome = {}, .had_effect = false, .was_run = false});
}

std::vector<Trial> PlanSearch::FirstTrialsOf(std::span<const Candidate> candidates) const {
  std::vector<Trial> trials;
  for (const Candidate& candidate : candidates) {
    const TrialCards cards = IsDearOnHost(candidate) ? TrialCards::kUnlimited : TrialCards::kGiven;
    absl::StatusOr<Trial> trial = TrialOn(cards, question_, {candidate});
    if (trial.ok()) trials.push_back(*std::move(trial));
  }
  return trials;
}

absl::StatusOr<std::optional<Candidate>> PlanSearch::Largest(Candidate candidate) {
  if (!IsDearOnHost(candidate)) return candidate;
  MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy one_place,
                            TryChanges(question_, run_, {candidate}, TrialCards::kUnlimited));
  const auto found = ChangedPlacesOf(one_place.outcome.annotations, candidate.hook);
  if (!one_place.outcome.completed || !one_place.had_effect || !found) {
    NoteWithoutPlaces(std::move(candidate));
    return std::nullopt;
  }
  candidate.of = static_cast<uint32_t>(found->of);
  const std::vector<uint32_t> ladder =
      LadderWithinHost(candidate, unchanged_ ? *unchanged_ : answer_.unlimited, one_place.outcome);
  if (ladder.empty()) return std::nullopt;
  candidate.degree = ladder.back();
  return candidate;
}

// Runs a change on the card, and without a limit if it fails there.
absl::Status PlanSearch::TryAlone(const Candidate& of) {
  const std::optional<Candidate> candidate = ToRun(of);
  if (!candidate || !HasRuns()) return absl::OkStatus();
  const std::optional<TrialCards> cards = FirstCardsOf(*candidate);
  if (!cards) {
    answer_.useless.push_back(*candidate);
    return absl::OkStatus();
  }
  if (*cards == TrialCards::kUnlimited) return MeasureAlone(*candidate);
  --runs_left_;
  MEMTRACE_ASSIGN_OR_RETURN(TriedRemedy tried, TryChanges(question_, run_, {*candidate}));
  const bool is_to_measure = tried.had_effect && tried.outcome.Failed() && !candidate->hook.empty();
  answer_.remedies.push_back(std::move(tried));
  return is_to_measure && !answer_.cheapest ? MeasureAlone(*candidate) : absl::OkStatus();
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
  const auto cards_of = [](bool on_smaller_card) {
    return on_smaller_card ? TrialCards::kSmallerByMargin : TrialCards::kGiven;
  };
  const auto run = [&](const std::vector<Candidate>& changes, bool on_smaller_card) {
    return TryChanges(question_, run_, changes, cards_of(on_smaller_card));
  };
  const auto expect = [&](const std::vector<std::vector<Candidate>>& runs, bool on_smaller_card) {
    std::vector<Trial> trials;
    for (const std::vector<Candidate>& changes : runs) {
      absl::StatusOr<Trial> trial = TrialOn(cards_of(on_smaller_card), question_, changes);
      if (trial.ok()) trials.push_back(*std::move(trial));
    }
    run_.WillRun(trials);
  };
  return CheapestSearch(answer_, runs_left_, run, expect).Run();
}

}  // namespace memtrace::fit
