// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_UPDATE_WATCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_UPDATE_WATCH_H_

#include <cstdint>
#include <map>

#include "tools/analysis/source/position.h"

namespace memtrace::analysis {

// A stay in the optimizer phase; optimizers that step one after the other make one update.
struct Update {
  uint64_t step = 0;
  uint32_t first_phase_run = 0;  // Position::phase_run as it began; 0: there was no update
  uint64_t last_event = 0;       // ordinal of its last event
  bool over = false;
  bool backward_followed = false;           // what the next step needs was seen
  std::map<int32_t, uint64_t> peak_before;  // by card: highest requested bytes since the last one
};

// Finds the latest update of a trace, and how high each card stood in the forward and backward
// passes before it.
//
//   forward  backward  optimizer  other  forward  backward  ...
//   \____________________/\________/\_____________________/
//         peak_before       update    before the next update
class UpdateWatch {
 public:
  // Must be called at each change of the phase. `level`: bytes that are requested now, by card.
  void PhaseChanged(const Position& position, uint64_t ordinal,
                    const std::map<int32_t, uint64_t>& level);

  // Must be called after each allocation.
  void Level(int32_t device, uint64_t requested);

  // Returns the latest update as it stands at event number `ordinal`.
  Update Latest(uint64_t ordinal) const;

 private:
  Update update_;
  trace::Phase phase_ = trace::Phase::kOther;
  bool pass_begun_ = false;              // a forward or a backward since the latest update
  std::map<int32_t, uint64_t> highest_;  // since then
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_UPDATE_WATCH_H_
