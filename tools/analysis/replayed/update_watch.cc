// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/update_watch.h"

#include <algorithm>

namespace memtrace::analysis {

using trace::Phase;

void UpdateWatch::PhaseChanged(const Position& position, uint64_t ordinal,
                               const std::map<int32_t, uint64_t>& level) {
  if (position.phase == phase_) return;
  if (phase_ == Phase::kOptimizer) {
    update_.last_event = ordinal;
    update_.over = true;
  }
  phase_ = position.phase;
  if (phase_ == Phase::kForward || phase_ == Phase::kRecompute || phase_ == Phase::kBackward) {
    if (!pass_begun_) highest_ = level;
    pass_begun_ = true;
    update_.backward_followed = update_.backward_followed || phase_ == Phase::kBackward;
  } else if (phase_ == Phase::kOptimizer) {
    if (pass_begun_ || update_.first_phase_run == 0) {
      update_ = {position.step, position.phase_run, ordinal, false, false, highest_};
    }
    update_.over = false;
    pass_begun_ = false;
  }
}

void UpdateWatch::Level(int32_t device, uint64_t requested) {
  uint64_t& highest = highest_[device];
  highest = std::max(highest, requested);
}

Update UpdateWatch::Latest(uint64_t ordinal) const {
  Update update = update_;
  if (update.first_phase_run != 0 && !update.over) update.last_event = ordinal;
  return update;
}

}  // namespace memtrace::analysis
