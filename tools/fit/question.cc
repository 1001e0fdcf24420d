// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/question.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/fit/card_limit.h"

namespace memtrace::fit {

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

absl::StatusOr<Trial> Unlimited(Trial trial) {
  absl::StatusOr<std::vector<std::string>> cards = WithBytes(trial.cards, kNoLimit);
  if (!cards.ok()) return cards.status();
  trial.cards = *std::move(cards);
  return trial;
}

}  // namespace memtrace::fit
