// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer.h"

#include <algorithm>

namespace memtrace::fit {
namespace {

// A usual program makes this many steps, so growth that fills the card by then ends it.
constexpr uint64_t kUsualSteps = 10'000;
// No program makes this many steps, so slower growth (a number kept at each step) fills no card.
constexpr uint64_t kTooManySteps = 1'000'000;

bool HasRecovered(const ProcessNeed& process) { return process.failures > 0 && process.went_on; }

}  // namespace

FitVerdict Outcome::verdict() const {
  if (is_late) return FitVerdict::kNotKnown;
  if (!completed) return FitVerdict::kDoesNotFit;
  if (outlook.is_whole) return FitVerdict::kFits;
  if (outlook.climb && outlook.full_in_step <= kUsualSteps) return FitVerdict::kWillNotFit;
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

const Outcome& Answer::told() const {
  if (!has_within || !within.fits()) return unlimited;
  if (within.outlook.steps > unlimited.outlook.steps) return within;
  const std::vector<CardNeed> needs = Joined(unlimited.processes);
  const bool exceeds = std::any_of(needs.begin(), needs.end(), [this](const CardNeed& need) {
    const auto card = static_cast<size_t>(need.card);
    return card < card_bytes.size() && need.total > card_bytes[card];
  });
  return exceeds ? within : unlimited;
}

std::optional<FailedLine> Outcome::Failed() const {
  if (completed) return std::nullopt;
  for (const ProcessNeed& process : processes)
    if (process.failed && !process.went_on) return process.failed;
  return std::nullopt;
}

bool Outcome::HasRunOut() const {
  const std::optional<FailedLine> failed = Failed();
  return failed && outlook.climb && failed->at.step > outlook.climb->last_step;
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
