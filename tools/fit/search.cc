// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/search.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/fit/card_limit.h"
#include "tools/fit/scaling.h"
#include "tools/fit/smallest_card.h"

namespace memtrace::fit {
namespace {

constexpr size_t kMostMembers = 3;  // of a combination

// Whether each hook among the changes found something to change.
bool HadEffect(const std::vector<Candidate>& changes, const Outcome& outcome) {
  return std::all_of(changes.begin(), changes.end(), [&outcome](const Candidate& change) {
    if (change.hook.empty()) return true;
    const auto count = outcome.annotations.find(trace::fact::kFitChanged.Of(change.hook));
    return count != outcome.annotations.end() && count->second != "0";
  });
}

std::string NameOf(const std::vector<Candidate>& changes) {
  std::string name;
  for (const Candidate& change : changes)
    absl::StrAppend(&name, name.empty() ? "" : " + ", change.name);
  return name;
}

// Whether all that the run ever reserved stays below these cards: then it makes the same run there,
// and there is no need to see it.
bool IsBelow(const Outcome& outcome, const std::vector<uint64_t>& card_bytes) {
  const std::vector<CardNeed> needs = Joined(outcome.processes);
  return std::all_of(needs.begin(), needs.end(), [&card_bytes](const CardNeed& need) {
    const auto card = static_cast<size_t>(need.card);
    return card < card_bytes.size() && need.total + need.fragmentation <= card_bytes[card];
  });
}

// How far a run came before memory ran out; launches tell runs within a phase apart.
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

// The set of so many of `among` that was tried, did not fit and got furthest; of equals the least.
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

// Whether it would be recommended if it completed.
bool MayBeBest(const std::vector<Candidate>& changes, const Answer& answer) {
  if (!answer.recommended) return true;
  const TriedRemedy& best = answer.remedies[*answer.recommended];
  return !best.has_margin.value_or(false) || IsLess(changes, best.changes);
}

// Those that leave a margin before those that do not, then what asks less.
bool IsBetter(const TriedRemedy& a, const TriedRemedy& b) {
  const bool has_margin = a.has_margin.value_or(false);
  if (has_margin != b.has_margin.value_or(false)) return has_margin;
  return IsLess(a.changes, b.changes);
}

}  // namespace

absl::StatusOr<Answer> Search::Run(const Question& question) {
  Answer answer;
  if (absl::Status run = Run(question, answer); !run.ok()) return run;
  return answer;
}

absl::Status Search::Run(Question question, Answer& answer) {
  if (question.asks_card) {
    answer.cards = question.trial.cards;
    answer.card_bytes = BytesOfCards(question.trial.cards);
  }
  answer.margin_percent = question.margin_percent;
  if (absl::Status asked = AskNeed(question, answer); !asked.ok()) return asked;
  Trial within = AsFarAs(question.trial, answer.unlimited);
  within.command = AsAsked(within.command, question.Options());
  // Every later trial need not look for what this one was watched for.
  question.trial = PastThePeakOf(question.trial, answer.unlimited);
  if (question.asks_card) {
    if (absl::Status asked = AskCard(question, within, answer); !asked.ok()) return asked;
  }
  if (question.with_smallest_card && answer.unlimited.fits()) {
    absl::StatusOr<std::vector<SmallestCard>> smallest = FindSmallestCards(question, run_);
    if (!smallest.ok()) return smallest.status();
    answer.smallest = *std::move(smallest);
  }
  for (const Variation& variation : question.scalings) {
    absl::StatusOr<Scaling> scaling = FindScaling(question, variation, run_);
    if (!scaling.ok()) return scaling.status();
    answer.scalings.push_back(*std::move(scaling));
  }
  return absl::OkStatus();
}

absl::Status Search::AskNeed(const Question& question, Answer& answer) {
  Trial trial = question.trial;
  trial.command = AsAsked(trial.command, question.Options());
  const absl::StatusOr<Trial> unlimited = Unlimited(std::move(trial));
  if (!unlimited.ok()) return unlimited.status();
  absl::StatusOr<Outcome> outcome = run_(*unlimited, "without a limit");
  if (!outcome.ok()) return outcome.status();
  if (absl::Status useless = WhyUseless(*outcome, *unlimited); !useless.ok()) return useless;
  answer.unlimited = *std::move(outcome);
  return absl::OkStatus();
}

absl::Status Search::AskCard(const Question& question, const Trial& within, Answer& answer) {
  absl::StatusOr<Outcome> outcome = run_(within, "on the card");
  if (!outcome.ok()) return outcome.status();
  if (absl::Status useless = WhyUseless(*outcome, within); !useless.ok()) return useless;
  answer.within = *std::move(outcome);
  answer.has_within = true;
  if (answer.fits()) {
    const absl::StatusOr<bool> margin = HasMargin(question, within, answer.within, "on the card");
    if (margin.ok()) answer.has_margin = *margin;
    return margin.status();
  }
  const bool is_full = answer.verdict() != Verdict::kNotKnown;
  return question.with_remedies && is_full ? TryRemedies(question, answer) : absl::OkStatus();
}

absl::StatusOr<bool> Search::HasMargin(const Question& question, Trial trial,
                                       const Outcome& outcome, std::string_view name) {
  if (question.margin_percent == 0) return true;
  absl::StatusOr<std::vector<std::string>> cards = WithMargin(trial.cards, question.margin_percent);
  if (!cards.ok()) return cards.status();
  trial.cards = *std::move(cards);
  if (IsBelow(outcome, BytesOfCards(trial.cards))) return true;
  const absl::StatusOr<Outcome> tried =
      run_(trial, absl::StrCat(std::string(name), ", with ", question.margin_percent, " % less"));
  if (!tried.ok()) return tried.status();
  return tried->fits();
}

absl::StatusOr<TriedRemedy> Search::Try(const Question& question, std::vector<Candidate> changes) {
  TriedRemedy tried{.changes = std::move(changes), .outcome = {}};
  const Trial trial =
      WithChanges(question.trial, tried.changes, question.user_settings, question.Options());
  absl::StatusOr<Outcome> outcome = run_(trial, NameOf(tried.changes));
  if (!outcome.ok()) return outcome.status();
  tried.outcome = *std::move(outcome);
  tried.had_effect = HadEffect(tried.changes, tried.outcome);
  return tried;
}

// One by one, then those that go together, as long as they ask less than what fits already.
absl::Status Search::TryRemedies(const Question& question, Answer& answer) {
  std::vector<Candidate> useful;
  for (const Candidate& candidate : AllCandidates()) {
    absl::StatusOr<TriedRemedy> tried = Try(question, {candidate});
    if (!tried.ok()) return tried.status();
    if (tried->had_effect) useful.push_back(candidate);
    if (absl::Status noted = Note(question, *std::move(tried), answer); !noted.ok()) return noted;
  }
  for (const Variation& variation : question.variations) {
    if (absl::Status tried = TryValues(question, variation, answer, useful); !tried.ok())
      return tried;
  }
  return TryCombinations(question, useful, answer);
}

// Those that ask less than what is recommended already, with the one of them that got furthest; if
// none of these pairs fits, each third with the pair that did. A set without the furthest would
// fail where that alone no longer does.
absl::Status Search::TryCombinations(const Question& question, const std::vector<Candidate>& useful,
                                     Answer& answer) {
  std::vector<Candidate> cheaper;
  for (const Candidate& candidate : useful)
    if (MayBeBest({candidate}, answer)) cheaper.push_back(candidate);
  std::vector<Candidate> base = FurthestOf(answer, cheaper, 1);
  for (size_t members = 2; members <= kMostMembers && !base.empty(); ++members) {
    for (const std::vector<Candidate>& changes : Extensions(base, cheaper)) {
      if (!MayBeBest(changes, answer)) break;  // nor is any after it
      absl::StatusOr<TriedRemedy> tried = Try(question, changes);
      if (!tried.ok()) return tried.status();
      if (absl::Status noted = Note(question, *std::move(tried), answer); !noted.ok()) return noted;
    }
    base = FurthestOf(answer, cheaper, members);
  }
  return absl::OkStatus();
}

// Until one fits.
absl::Status Search::TryValues(const Question& question, const Variation& variation, Answer& answer,
                               std::vector<Candidate>& useful) {
  std::optional<Candidate> last;
  for (const Candidate& candidate : CandidatesOf(variation)) {
    absl::StatusOr<TriedRemedy> tried = Try(question, {candidate});
    if (!tried.ok()) return tried.status();
    last = candidate;
    const bool fits = tried->outcome.fits();
    if (absl::Status noted = Note(question, *std::move(tried), answer); !noted.ok()) return noted;
    if (fits) break;
  }
  if (last) useful.push_back(*std::move(last));  // the one that takes least
  return absl::OkStatus();
}

// What cannot become the recommendation is not asked for its margin.
absl::Status Search::Note(const Question& question, TriedRemedy tried, Answer& answer) {
  const TriedRemedy* best = answer.recommended ? &answer.remedies[*answer.recommended] : nullptr;
  if (tried.outcome.fits() && tried.had_effect && MayBeBest(tried.changes, answer)) {
    const absl::StatusOr<bool> margin = HasMargin(
        question,
        WithChanges(question.trial, tried.changes, question.user_settings, question.Options()),
        tried.outcome, NameOf(tried.changes));
    if (!margin.ok()) return margin.status();
    tried.has_margin = *margin;
    if (best == nullptr || IsBetter(tried, *best)) answer.recommended = answer.remedies.size();
  }
  answer.remedies.push_back(std::move(tried));
  return absl::OkStatus();
}

}  // namespace memtrace::fit
