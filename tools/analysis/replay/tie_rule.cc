// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/tie_rule.h"

#include <map>

#include "tools/analysis/replay/as_recorded.h"
#include "tools/analysis/replay/event_device.h"

namespace memtrace::replay {
namespace {

uint64_t PlacedAsRecorded(const analysis::EventSource& source, const RecordedRun& run) {
  const PlacementSink nobody;
  std::map<int32_t, AsRecorded> recordings;
  for (const auto& [device, recorded] : run.devices) {
    recordings.try_emplace(device, run, device, nobody);
  }
  source.ForEach([&](const trace::Event& event) {
    const auto recording = recordings.find(DeviceOf(event));
    if (recording != recordings.end()) recording->second.See(event);
  });
  uint64_t placed = 0;
  for (const auto& [device, recording] : recordings) placed += recording.placed();
  return placed;
}

}  // namespace

void LearnTieRule(const analysis::EventSource& source, RecordedRun& run) {
  if (run.policy == PolicyKind::kMemtrace || run.policy == PolicyKind::kLowerBound) return;
  run.settings.oldest_segment_first = false;
  const uint64_t by_address = PlacedAsRecorded(source, run);
  run.settings.oldest_segment_first = true;
  run.settings.oldest_segment_first = PlacedAsRecorded(source, run) > by_address;
}

}  // namespace memtrace::replay
