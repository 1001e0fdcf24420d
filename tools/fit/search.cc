// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "interpose/simulated_card/card_spec.h"
#include "tools/fit/card_limit.h"

namespace memtrace::fit {
namespace {

// Each is a run of the program.
constexpr size_t kMostCombinations = 10;

// An outcome from which nothing about memory can be learnt, as a sentence.
absl::Status WhyUseless(const Outcome& outcome, const Trial& trial) {
  if (outcome.is_late) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program had not made ", trial.least_steps, " steps after ", trial.seconds,
                     " s; give it longer with --time, or let it make fewer with --steps"));
  }
  if (!outcome.completed && !outcome.Failed()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the program ends with exit code ", outcome.exit_code, " by itself, whatever the card"));
  }
  if (outcome.processes.empty()) {
    return absl::FailedPreconditionError(
        "the program allocates nothing on a card: there is nothing to fit");
  }
  return absl::OkStatus();
}

std::vector<uint64_t> BytesOfCards(const std::vector<std::string>& specs) {
  std::vector<uint64_t> bytes;
  for (const std::string& spec : specs) {
    std::vector<card::CardSpec> cards;
    std::string ignored;
    if (!card::ParseCardSpecs(spec, &cards, &ignored)) continue;
    for (const card::CardSpec& of : cards) bytes.push_back(of.bytes);
  }
  return bytes;
}

// Whether each hook among the changes found something to change.
bool HadEffect(const std::vector<Candidate>& changes, const Outcome& outcome) {
  return std::all_of(changes.begin(), changes.end(), [&outcome](const Candidate& change) {
    if (change.hook.empty()) return true;
    const auto count = outcome.annotations.find("fit.changed." + change.hook);
    return count != outcome.annotations.end() && count->second != "0";
  });
}

std::string NameOf(const std::vector<Candidate>& changes) {
  std::string name;
  for (const Candidate& change : changes)
    absl::StrAppend(&name, name.empty() ? "" : " + ", change.name);
  return name;
}

}  // namespace

std::optional<FailedLine> Outcome::Failed() const {
  if (completed) return std::nullopt;
  for (const ProcessNeed& process : processes)
    if (process.failed) return process.failed;
  return std::nullopt;
}

absl::StatusOr<Answer> Search::Run(const Question& question) {
  Answer answer{.cards = question.trial.cards,
                .card_bytes = BytesOfCards(question.trial.cards),
                .unlimited = {},
                .within = {},
                .remedies = {},
                .recommended = {}};
  Trial within = question.trial;
  within.command = AsAsked(within.command, question.variations);
  Trial unlimited = within;
  absl::StatusOr<std::vector<std::string>> cards = WithBytes(question.trial.cards, kNoLimit);
  if (!cards.ok()) return cards.status();
  unlimited.cards = *std::move(cards);
  absl::StatusOr<Outcome> outcome = run_(unlimited, "without a limit");
  if (!outcome.ok()) return outcome.status();
  if (absl::Status useless = WhyUseless(*outcome, unlimited); !useless.ok()) return useless;
  answer.unlimited = *std::move(outcome);
  outcome = run_(within, "on the card");
  if (!outcome.ok()) return outcome.status();
  if (absl::Status useless = WhyUseless(*outcome, within); !useless.ok()) return useless;
  answer.within = *std::move(outcome);
  if (!answer.fits() && question.with_remedies) {
    if (absl::Status tried = TryRemedies(question, answer); !tried.ok()) return tried;
  }
  return answer;
}

absl::StatusOr<TriedRemedy> Search::Try(const Question& question, std::vector<Candidate> changes) {
  TriedRemedy tried{.changes = std::move(changes), .outcome = {}};
  const Trial trial =
      WithChanges(question.trial, tried.changes, question.user_settings, question.variations);
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
    Note(*std::move(tried), answer);
  }
  for (const Variation& variation : question.variations) {
    if (absl::Status tried = TryValues(question, variation, answer, useful); !tried.ok())
      return tried;
  }
  size_t more = kMostCombinations;
  for (const std::vector<Candidate>& changes : Combinations(useful)) {
    const bool asks_less =
        !answer.recommended || IsLess(changes, answer.remedies[*answer.recommended].changes);
    if (!asks_less || more-- == 0) break;
    absl::StatusOr<TriedRemedy> tried = Try(question, changes);
    if (!tried.ok()) return tried.status();
    Note(*std::move(tried), answer);
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
    const bool completed = tried->outcome.completed;
    Note(*std::move(tried), answer);
    if (completed) break;
  }
  if (last) useful.push_back(*std::move(last));  // the one that takes least
  return absl::OkStatus();
}

void Search::Note(TriedRemedy tried, Answer& answer) {
  const bool is_best =
      tried.outcome.completed && tried.had_effect &&
      (!answer.recommended || IsLess(tried.changes, answer.remedies[*answer.recommended].changes));
  answer.remedies.push_back(std::move(tried));
  if (is_best) answer.recommended = answer.remedies.size() - 1;
}

}  // namespace memtrace::fit
