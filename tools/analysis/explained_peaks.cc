// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::analysis {

Explanation ExplainPeaks(const EventSource& source) {
  Timeline timeline(source, 0);
  source.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  std::multimap<uint64_t, int32_t> peaks;
  for (const auto& [device, card] : timeline.cards()) peaks.emplace(card.peak_event, device);
  LiveSet live;
  std::map<int32_t, std::vector<CapturedBlock>> at_peak;
  auto next = peaks.upper_bound(0);
  uint64_t ordinal = 0;
  source.ForEach([&](const trace::Event& event) {
    live.Apply(event);
    ++ordinal;
    for (; next != peaks.end() && next->first == ordinal; ++next)
      at_peak[next->second] = live.Capture(next->second);
  });
  Explanation result;
  result.run.annotations = timeline.annotations();
  result.run.counts = timeline.counts();
  if (timeline.got_over()) result.failure.got_over.emplace();
  result.timelines = timeline.cards();
  result.run.activities = timeline.activities();
  for (const auto& [device, card] : timeline.cards()) {
    CardExplanation& explained = result.cards.emplace_back();
    explained.index = device;
    explained.peak_at = card.peak_at;
    explained.peak = BreakDownByRole(at_peak[device], live, source);
  }
  if (result.cards.empty()) result.cards.emplace_back();  // a process that never touched a card
  return result;
}

}  // namespace memtrace::analysis
