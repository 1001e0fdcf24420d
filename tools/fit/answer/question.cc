// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/question.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "messages/message.h"
#include "tools/fit/trials/card_limit.h"
#include "tools/fit/trials/why_failed.h"

namespace memtrace::fit {
namespace {

constexpr double kTrusted = 0.9;        // of the time: an estimate of it errs
constexpr int kKilled = 128 + SIGKILL;  // as a shell says it
constexpr int kUsageCode = 2;           // docs/reference/exit-codes.md
constexpr uint64_t kToTheEnd = std::numeric_limits<int32_t>::max();

Trial ForSteps(Trial trial, uint64_t least, uint64_t most) {
  trial.least_steps = least;
  trial.most_steps = most;
  trial.watch_seconds = 0;
  return trial;
}

}  // namespace

uint64_t UsualRunsAtOnce() {
  return std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, 2);
}

bool ExceedsWithUnseen(const Outcome& outcome, const std::vector<uint64_t>& card_bytes) {
  const auto exceeds = [&card_bytes](const MomentPeak& peak) {
    const auto card = static_cast<size_t>(peak.card);
    const uint64_t unseen = UnseenBytes(peak.stay);
    return unseen > 0 && card < card_bytes.size() && peak.needs + unseen > card_bytes[card];
  };
  return std::any_of(outcome.processes.begin(), outcome.processes.end(),
                     [&exceeds](const ProcessNeed& process) {
                       return std::any_of(process.moments.begin(), process.moments.end(), exceeds);
                     });
}

bool IsBelow(const Outcome& outcome, const std::vector<uint64_t>& card_bytes) {
  const std::vector<CardNeed> needs = Joined(outcome.processes);
  const bool is_below =
      std::all_of(needs.begin(), needs.end(), [&card_bytes](const CardNeed& need) {
        const auto card = static_cast<size_t>(need.card);
        return card < card_bytes.size() && AtMost(need) <= card_bytes[card];
      });
  if (ExceedsWithUnseen(outcome, card_bytes)) return false;
  return is_below && std::all_of(outcome.resumed.begin(), outcome.resumed.end(),
                                 [&card_bytes](const Outcome& resumed) {
                                   return IsBelow(resumed, card_bytes);
                                 });
}

absl::Status CheckOutcomeIsUseful(const Outcome& outcome, const Trial& trial,
                                  const Outcome* without_limit) {
  if (outcome.is_late && trial.least_steps >= kToTheEnd) {
    return absl::FailedPreconditionError(
        Message("the program had not come to its end after $0 s; give it more time with --time",
                trial.seconds));
  }
  if (outcome.is_late) {
    return absl::FailedPreconditionError(CountedMessage(
        trial.least_steps,
        "the program had not made 1 step after $0 s; give it more time with --time",
        "the program had not made $1 steps after $0 s; give it more time with --time, or require "
        "fewer steps with --steps",
        trial.seconds, trial.least_steps));
  }
  const bool ended_otherwise = !outcome.completed && !outcome.Failed();
  if (ended_otherwise && outcome.exit_code == kKilled) {
    return absl::FailedPreconditionError(
        Message("the program was killed (exit code $0), as the kernel does when the host's memory "
                "is full; that says nothing of the card",
                outcome.exit_code));
  }
  if (ended_otherwise) {
    const bool depends_on_card = without_limit != nullptr && without_limit->completed;
    return absl::FailedPreconditionError(
        depends_on_card
            ? Message("on this card the program ends with exit code $0, without a request for "
                      "memory that explains it; without a limit it completes",
                      outcome.exit_code)
            : Message("the program ends with exit code $0 by itself, whatever the card",
                      outcome.exit_code));
  }
  if (outcome.processes.empty()) {
    return absl::FailedPreconditionError(
        Message("the program allocates nothing on a card, so there is nothing to fit"));
  }
  return absl::OkStatus();
}

absl::Status CheckCallsAreKnown(const Outcome& outcome, const Trial& trial) {
  if (trial.also.empty() || outcome.exit_code != kUsageCode) return absl::OkStatus();
  const std::string said = LastMemtraceSentence(outcome.log_end);
  return absl::StartsWith(said, "--also") ? absl::InvalidArgumentError(said) : absl::OkStatus();
}

absl::StatusOr<Trial> Unlimited(Trial trial) {
  absl::StatusOr<std::vector<std::string>> cards = WithBytes(trial.cards, kNoLimit);
  if (!cards.ok()) return cards.status();
  trial.cards = *std::move(cards);
  return trial;
}

Trial ForSameSteps(Trial trial, const Outcome& seen) {
  if (trial.watch_seconds == 0) return trial;
  const uint64_t steps =
      seen.outlook.is_whole ? kToTheEnd : std::max<uint64_t>(seen.outlook.steps, 1);
  return ForSteps(std::move(trial), steps, steps);
}

Trial ForWholeJob(const Question& question) {
  Trial trial = ForSteps(question.trial, kToTheEnd, kToTheEnd);
  trial.moments = "job";
  trial.also = question.also;
  trial.resumes = true;
  trial.resumed_by = question.resumed_by;
  return trial;
}

Trial UntilAfterPeakOf(Trial trial, const Outcome& seen) {
  if (trial.watch_seconds == 0) return trial;
  const Outlook& outlook = seen.outlook;
  const bool is_after_steps =
      outlook.is_whole && (outlook.rose_after || outlook.last_rise >= outlook.steps);
  if (is_after_steps) return ForSteps(std::move(trial), kToTheEnd, kToTheEnd);
  const uint64_t until = outlook.climb ? outlook.steps : outlook.last_rise + 1;
  const uint64_t least = std::max(trial.least_steps, std::min(until, outlook.steps));
  const uint64_t most = std::max(trial.most_steps, least);
  return ForSteps(std::move(trial), least, most);
}

std::optional<Trial> UntilFull(Trial trial, const Outcome& seen) {
  const Outlook& outlook = seen.outlook;
  const bool climbs = outlook.climb && seen.verdict() != FitVerdict::kFits &&
                      seen.verdict() != FitVerdict::kDoesNotFit;
  const bool ends_before = outlook.EndsBeforeFull();
  if (!climbs || outlook.full_in_step <= outlook.steps) return std::nullopt;
  // Steps are not all alike, and the climb is a mean. A program that ends before ends by itself.
  const uint64_t beyond =
      std::max((outlook.full_in_step - outlook.steps) / 8, 4 * outlook.climb->every);
  const uint64_t steps = (ends_before ? outlook.planned_steps : outlook.full_in_step) + beyond;
  const double seconds =
      seen.seconds + seen.seconds_a_step() * static_cast<double>(steps - outlook.steps);
  if (seconds > static_cast<double>(trial.seconds) * kTrusted) return std::nullopt;
  return ForSteps(std::move(trial), steps, steps);
}

}  // namespace memtrace::fit
