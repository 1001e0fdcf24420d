// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/policy_runs.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/replay/event_device.h"
#include "tools/analysis/replay/lower_bound_policy.h"
#include "tools/analysis/replay/memtrace_policy.h"
#include "tools/analysis/replay/torch/torch_policy.h"

namespace memtrace::replay {
namespace {

constexpr Bytes kStep = 2_MiB;
constexpr Bytes kLargestCard = Bytes{1} << 55;  // where the search ends: no card will do

// Returns a size that stands for a card without a limit. memtrace's allocator asks for the size, so
// this one has enough room that nothing has to be taken back.
Bytes UnlimitedCardSize(const RecordedDevice& recorded) {
  return RoundUp(2 * recorded.lower_bound + 64_MiB + recorded.rest, kStep);
}

std::unique_ptr<Policy> MakeTorch(bool expands, const RecordedRun& run,
                                  const RecordedDevice& recorded, std::optional<Bytes> card) {
  TorchPolicy::Options options{.settings = run.settings};
  options.settings.expands = expands;
  if (card) {
    options.card = *card;
    options.capacity = recorded.Usable(*card);
  }
  return std::make_unique<TorchPolicy>(options);
}

std::unique_ptr<Policy> Make(PolicyKind kind, const RecordedRun& run,
                             const RecordedDevice& recorded, std::optional<Bytes> card) {
  switch (kind) {
    case PolicyKind::kTorchNative:
    case PolicyKind::kTorchExpandable:
      return MakeTorch(kind == PolicyKind::kTorchExpandable, run, recorded, card);
    case PolicyKind::kMemtrace:
      return std::make_unique<MemtracePolicy>(card.value_or(UnlimitedCardSize(recorded)),
                                              recorded.rest);
    case PolicyKind::kLowerBound:
      break;
  }
  return std::make_unique<LowerBoundPolicy>();
}

// The range in which the smallest card is still sought.
struct Bracket {
  Bytes fails = 0;
  Bytes serves = 0;
  bool is_known = false;  // true if `serves` is known to serve

  bool is_found() const { return is_known && serves - fails <= kStep; }
  Bytes next() const { return is_known ? RoundDown(fails + (serves - fails) / 2, kStep) : serves; }
  void Learn(bool is_served) {
    if (is_served || serves > kLargestCard) {
      serves = next();
      is_known = true;
    } else if (is_known) {
      fails = next();
    } else {
      fails = serves;
      serves = RoundUp(serves * 2, kStep);
    }
  }
};

}  // namespace

PolicyRuns::PolicyRuns(PolicyKind kind, const RecordedRun& run, const Cards& cards,
                       const PlacementSink& sink) {
  for (const auto& [device, card] : cards) {
    const RecordedDevice& recorded = run.devices.at(device);
    Run& made = runs_[device];
    made.policy = Make(kind, run, recorded, card);
    made.course = std::make_unique<Course>(*made.policy, recorded, device, sink);
  }
}

void PolicyRuns::See(const trace::Event& event) {
  const auto run = runs_.find(DeviceOf(event));
  if (run == runs_.end()) return;
  if (stops_at_failure_ && run->second.course->failures() > 0) return;
  run->second.course->See(event);
}

void PolicyRuns::End() {
  for (auto& [device, run] : runs_) run.course->End();
}

std::map<int32_t, Bytes> SmallestCards(PolicyKind kind, const RecordedRun& run,
                                       const analysis::EventSource& source,
                                       std::map<int32_t, Bytes> expected) {
  std::map<int32_t, Bracket> brackets;
  for (const auto& [device, card] : expected) {
    const RecordedDevice& recorded = run.devices.at(device);
    const Bytes serves = RoundUp(card, kStep);
    const Bytes too_small = RoundUp(recorded.lower_bound + recorded.rest, kStep) - kStep;
    brackets[device] = {std::min(too_small, serves - kStep), serves, false};
  }
  const PlacementSink nobody;
  while (true) {
    Cards cards;
    for (const auto& [device, bracket] : brackets) {
      if (!bracket.is_found()) cards[device] = bracket.next();
    }
    if (cards.empty()) break;
    PolicyRuns runs(kind, run, cards, nobody);
    runs.StopAtFailure();
    source.ForEach([&runs](const trace::Event& event) { runs.See(event); });
    runs.End();
    for (const auto& [device, card] : cards) {
      brackets[device].Learn(runs.course(device).failures() == 0);
    }
  }
  for (auto& [device, card] : expected) card = brackets[device].serves;
  return expected;
}

}  // namespace memtrace::replay
