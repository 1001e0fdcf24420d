// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/remedy_trial.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/changes/changed_places.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

// True if each hook among the changes found something to change. A run that fails before the moment
// of a change, such as an optimizer's first step, made it nowhere.
bool HadEffect(const std::vector<Candidate>& changes, const Outcome& outcome) {
  return std::all_of(changes.begin(), changes.end(), [&outcome](const Candidate& change) {
    if (change.hook.empty()) return true;
    const auto changed = ChangedPlacesOf(outcome.annotations, change.hook);
    return (changed && changed->places > 0) || (change.of > 0 && outcome.Failed());
  });
}

std::string RunName(const Question& question, const std::vector<Candidate>& changes,
                    TrialCards cards) {
  std::string name = NameOf(changes);
  switch (cards) {
    case TrialCards::kSmallerByMargin:
      return Message("$0, with $1 % less", name, question.margin_percent);
    case TrialCards::kUnlimited:
      return Message("$0, without a limit", name);
    case TrialCards::kGiven:
      break;
  }
  return name;
}

}  // namespace

std::string NameOf(const std::vector<Candidate>& changes) {
  std::string name;
  for (const Candidate& change : changes)
    absl::StrAppend(&name, name.empty() ? "" : " + ", change.NameWithDegree());
  return name;
}

Trial TrialWith(const Question& question, const std::vector<Candidate>& changes) {
  return WithChanges(question.trial, changes, question.user_settings, question.Options());
}

absl::StatusOr<Trial> TrialOn(TrialCards cards, const Question& question,
                              const std::vector<Candidate>& changes) {
  Trial trial = TrialWith(question, changes);
  if (cards == TrialCards::kUnlimited) return Unlimited(std::move(trial));
  if (cards == TrialCards::kSmallerByMargin) {
    MEMTRACE_ASSIGN_OR_RETURN(trial.cards, WithMargin(trial.cards, question.margin_percent));
  }
  return trial;
}

absl::StatusOr<TriedRemedy> TryChanges(const Question& question, const Runner& run,
                                       std::vector<Candidate> changes, TrialCards cards) {
  TriedRemedy tried{.changes = std::move(changes), .outcome = {}};
  MEMTRACE_ASSIGN_OR_RETURN(const Trial trial, TrialOn(cards, question, tried.changes));
  MEMTRACE_ASSIGN_OR_RETURN(tried.outcome, run(trial, RunName(question, tried.changes, cards)));
  tried.had_effect = HadEffect(tried.changes, tried.outcome);
  tried.is_smaller_card = cards == TrialCards::kSmallerByMargin;
  return tried;
}

}  // namespace memtrace::fit
