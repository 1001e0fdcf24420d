// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/answer.h"

#include <algorithm>

namespace memtrace::fit {
namespace {

// A usual program makes this many steps, so growth that fills the card by then ends it.
constexpr uint64_t kUsualSteps = 10'000;
// No program makes this many steps, so slower growth (a number kept at each step) fills no card.
constexpr uint64_t kTooManySteps = 1'000'000;

// True if it needs more of a card than that has.
bool Exceeds(const Outcome& outcome, const std::vector<uint64_t>& card_bytes) {
  const std::vector<CardNeed> needs = Joined(outcome.processes);
  return std::any_of(needs.begin(), needs.end(), [&card_bytes](const CardNeed& need) {
    const auto card = static_cast<size_t>(need.card);
    return card < card_bytes.size() && need.total > card_bytes[card];
  });
}

uint64_t MostNeeded(const Outcome& outcome) {
  uint64_t most = 0;
  for (const CardNeed& need : Joined(outcome.processes)) most = std::max(most, need.total);
  return most;
}

bool HasRecovered(const ProcessNeed& process) { return process.failures > 0 && process.went_on; }

}  // namespace

FitVerdict Outcome::verdict() const {
  if (is_late) return FitVerdict::kNotKnown;
  if (!completed || would_run_out) return FitVerdict::kDoesNotFit;
  if (outlook.is_whole) return FitVerdict::kFits;
  const bool is_full_soon = outlook.full_in_step <= kUsualSteps && !outlook.EndsBeforeFull();
  if (outlook.climb && is_full_soon) return FitVerdict::kWillNotFit;
  if (outlook.climb)
    return outlook.full_in_step > kTooManySteps ? FitVerdict::kFits : FitVerdict::kNotKnown;
  return outlook.rose_last ? FitVerdict::kNotKnown : FitVerdict::kFits;
}

std::optional<FailedLine> Outcome::LastRecoveredFailure() const {
  std::optional<FailedLine> last;
  for (const ProcessNeed& process : processes)
    if (HasRecovered(process)) last = process.failed;
  return last;
}

uint64_t Outcome::times_got_over() const {
  uint64_t times = 0;
  for (const ProcessNeed& process : processes)
    if (HasRecovered(process)) times += process.failures;
  return times;
}

const Outcome& Answer::deciding() const {
  const bool is_jobs = whole_job && whole_job->has_within && within.fits();
  return is_jobs ? whole_job->within : within;
}

FitVerdict Answer::verdict() const {
  const FitVerdict seen = deciding().verdict();
  if (seen != FitVerdict::kFits) return seen;
  const bool has_bad_moment =
      whole_job && std::any_of(whole_job->moments.begin(), whole_job->moments.end(),
                               [](const MomentNeed& need) { return !need.fits.value_or(true); });
  if (has_bad_moment) return FitVerdict::kDoesNotFit;
  return gaps.empty() ? seen : FitVerdict::kNotKnown;
}

const Outcome& Answer::told() const {
  if (whole_job && has_within && !whole_job->has_within && within.fits()) return unlimited;
  if (whole_job && MostNeeded(whole_job->unlimited) > MostNeeded(unlimited)) {
    const bool is_less_on_card = whole_job->has_within && whole_job->within.completed;
    const bool exceeds = Exceeds(whole_job->unlimited, card_bytes);
    return is_less_on_card && exceeds ? whole_job->within : whole_job->unlimited;
  }
  if (!has_within || !within.fits()) return unlimited;
  if (within.outlook.steps > unlimited.outlook.steps) return within;
  return Exceeds(unlimited, card_bytes) ? within : unlimited;
}

std::optional<FailedLine> Outcome::Failed() const {
  if (completed) return std::nullopt;
  for (const ProcessNeed& process : processes)
    if (process.failed && !process.went_on) return process.failed;
  return resumed.empty() ? std::nullopt : resumed.front().Failed();
}

bool Outcome::HasRunOut() const {
  if (!Failed() || !outlook.climb) return false;
  // Otherwise something else failed while memory also grew a little.
  const uint64_t soon = std::max(8 * outlook.climb->every, outlook.steps / 2);
  return outlook.full_in_step <= outlook.steps + soon;
}

double Outcome::seconds_a_step() const {
  if (const uint64_t measured = cost().microseconds; measured > 0)
    return static_cast<double>(measured) / 1e6;
  return seconds / static_cast<double>(std::max<uint64_t>(outlook.steps, 1));
}

StepCost Outcome::cost() const { return CostOf(annotations); }

std::optional<StepTime> Outcome::time() const {
  std::optional<StepTime> slowest;
  for (const ProcessNeed& process : processes) {
    const bool is_slower =
        process.time && (!slowest || process.time->microseconds() > slowest->microseconds());
    if (is_slower) slowest = process.time;
  }
  return slowest;
}

const ProcessNeed* Outcome::MostSending() const {
  const auto sent = [](const ProcessNeed& process) {
    return process.cost.sent_bytes + process.cost.sent_bytes_network;
  };
  const auto most = std::max_element(
      processes.begin(), processes.end(),
      [&](const ProcessNeed& a, const ProcessNeed& b) { return sent(a) < sent(b); });
  return most == processes.end() || sent(*most) == 0 ? nullptr : &*most;
}

}  // namespace memtrace::fit
