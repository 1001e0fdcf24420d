// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tools/analysis/replay/policy_runs.h"
#include "tools/analysis/replay/recordings.h"

namespace memtrace::replay {
namespace {

constexpr std::array<std::pair<PolicyKind, std::string_view>, 4> kNames = {
    {{PolicyKind::kTorchNative, "torch-native"},
     {PolicyKind::kTorchExpandable, "torch-expandable"},
     {PolicyKind::kMemtrace, "memtrace"},
     {PolicyKind::kLowerBound, "lower-bound"}}};

bool IsTorch(PolicyKind kind) {
  return kind == PolicyKind::kTorchNative || kind == PolicyKind::kTorchExpandable;
}

// Returns the requested card size, else the recorded one. If only what its allocator could have is
// known of a card, that counts as the card.
Cards CardsFor(const RecordedRun& run, const ReplayOptions& options) {
  Cards cards;
  for (const auto& [device, recorded] : run.devices) {
    cards[device] = options.card ? options.card : recorded.card ? recorded.card : recorded.usable;
  }
  return cards;
}

ReplayOutcome OutcomeOf(const PolicyRuns& runs, int32_t device) {
  const Course& course = runs.course(device);
  const Policy& policy = runs.policy(device);
  return {.device = device,
          .card = std::nullopt,
          .fits = course.failures() == 0,
          .failures = course.failures(),
          .first_failure = course.first_failure(),
          .peak_allocated = policy.peak_allocated(),
          .peak_reserved = policy.peak_reserved(),
          .smallest_card = 0,
          .allocations = course.allocations(),
          .compared = std::nullopt,
          .placed_as_recorded = std::nullopt,
          .guessed_pools = 0,
          .calls = policy.calls()};
}

// On the recorded card, the figures are those of the recorded course, because that is what
// happened.
void TakeCourse(const AsRecorded& recording, ReplayOutcome& outcome) {
  outcome.fits = recording.failures() == 0;
  outcome.failures = recording.failures();
  outcome.first_failure.reset();
  outcome.peak_allocated = recording.policy().peak_allocated();
  outcome.peak_reserved = recording.policy().peak_reserved();
  outcome.calls = recording.policy().calls();
}

void AddSmallestCards(const analysis::EventSource& source, const RecordedRun& run,
                      ReplayResult& result) {
  std::map<int32_t, Bytes> expected;
  for (ReplayOutcome& outcome : result.devices) {
    const Bytes rest = run.devices.at(outcome.device).rest;
    outcome.smallest_card = outcome.peak_allocated + rest;
    expected[outcome.device] = std::max<Bytes>(outcome.peak_reserved, 2_MiB) + rest;
  }
  if (result.policy == PolicyKind::kLowerBound) return;
  const auto found = SmallestCards(result.policy, run, source, std::move(expected));
  for (ReplayOutcome& outcome : result.devices) {
    outcome.smallest_card = found.at(outcome.device);
  }
}

}  // namespace

std::string_view PolicyName(PolicyKind kind) {
  for (const auto& [each, name] : kNames) {
    if (each == kind) return name;
  }
  return "";
}

std::optional<PolicyKind> PolicyOf(std::string_view policy_name) {
  for (const auto& [kind, name] : kNames) {
    if (name == policy_name) return kind;
  }
  return std::nullopt;
}

const ReplayOutcome& ReplayResult::fullest() const {
  return *std::max_element(devices.begin(), devices.end(),
                           [](const ReplayOutcome& a, const ReplayOutcome& b) {
                             return a.peak_reserved < b.peak_reserved;
                           });
}

ReplayResult Replay(const analysis::EventSource& source, const RecordedRun& run,
                    const ReplayOptions& options) {
  const bool is_recorded = options.policy == run.policy && IsTorch(run.policy);
  const bool is_as_recorded =
      is_recorded && !options.card &&
      std::all_of(run.devices.begin(), run.devices.end(),
                  [](const auto& device) { return device.second.is_complete; });
  const Cards cards = CardsFor(run, options);
  const PlacementSink nobody;
  std::optional<Recordings> recordings;
  if (is_recorded) recordings.emplace(run, is_as_recorded ? options.placements : nobody);
  PolicyRuns runs(options.policy, run, cards, is_as_recorded ? nobody : options.placements);
  source.ForEach([&](const trace::Event& event) {
    if (!is_as_recorded) runs.See(event);
    if (recordings) recordings->See(event);
  });
  runs.End();
  ReplayResult result{.policy = options.policy, .recorded = run.policy, .devices = {}};
  result.devices.reserve(cards.size());
  for (const auto& [device, card] : cards) {
    ReplayOutcome outcome = OutcomeOf(runs, device);
    outcome.card = card;
    outcome.ends_in_failure = run.devices.at(device).ends_in_failure;
    if (options.policy == PolicyKind::kLowerBound && card) {
      outcome.fits = outcome.peak_allocated <= run.devices.at(device).Usable(*card);
    }
    if (recordings) {
      const AsRecorded& recording = recordings->cards().at(device);
      outcome.allocations = recording.allocations();
      outcome.compared = recording.compared();
      outcome.placed_as_recorded = recording.placed();
      outcome.guessed_pools = recording.guessed_pools();
      if (is_as_recorded) TakeCourse(recording, outcome);
    }
    result.devices.push_back(std::move(outcome));
  }
  AddSmallestCards(source, run, result);
  return result;
}

}  // namespace memtrace::replay
