// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDINGS_H_

#include <map>

#include "tools/analysis/replay/as_recorded.h"
#include "tools/analysis/replay/event_device.h"

namespace memtrace::replay {

// The cards of a run, each replayed as it was recorded.
//
// Thread rule: one thread at a time.
class Recordings {
 public:
  // `run` and `sink` outlive it.
  Recordings(const RecordedRun& run, const PlacementSink& sink) {
    for (const auto& [device, recorded] : run.devices) {
      cards_.try_emplace(device, run, device, sink);
    }
  }

  // Passes the event to its card.
  void See(const trace::Event& event) {
    const auto card = cards_.find(DeviceOf(event));
    if (card != cards_.end()) card->second.See(event);
  }

  const std::map<int32_t, AsRecorded>& cards() const { return cards_; }

 private:
  std::map<int32_t, AsRecorded> cards_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDINGS_H_
