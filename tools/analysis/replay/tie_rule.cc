// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/tie_rule.h"

#include "tools/analysis/replay/recordings.h"

namespace memtrace::replay {
namespace {

uint64_t CountPlacedAsRecorded(const analysis::EventSource& source, const RecordedRun& run) {
  const PlacementSink nobody;
  Recordings recordings(run, nobody);
  source.ForEach([&recordings](const trace::Event& event) { recordings.See(event); });
  uint64_t placed = 0;
  for (const auto& [device, card] : recordings.cards()) placed += card.placed();
  return placed;
}

}  // namespace

void LearnTieRule(const analysis::EventSource& source, RecordedRun& run) {
  if (run.policy == PolicyKind::kMemtrace || run.policy == PolicyKind::kLowerBound) return;
  run.settings.oldest_segment_first = false;
  const uint64_t by_address = CountPlacedAsRecorded(source, run);
  run.settings.oldest_segment_first = true;
  run.settings.oldest_segment_first = CountPlacedAsRecorded(source, run) > by_address;
}

}  // namespace memtrace::replay
