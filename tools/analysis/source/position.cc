// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/position.h"

#include <variant>

namespace memtrace::analysis {

void Position::Advance(const trace::Event& event) {
  if (const auto* allocation = std::get_if<trace::Allocate>(&event.payload)) {
    if (allocation->module != module) ++module_run;
    module = allocation->module;
  } else if (const auto* begun = std::get_if<trace::Step>(&event.payload)) {
    step = begun->number;
    micro_batch = 0;
  } else if (const auto* change = std::get_if<trace::PhaseChange>(&event.payload)) {
    if (change->micro_batch != 0) micro_batch = change->micro_batch;
    if (change->phase == phase) return;
    phase = change->phase;
    ++phase_run;
    forward_seen = forward_seen || phase == trace::Phase::kForward;
    backward_seen = backward_seen || phase == trace::Phase::kBackward;
  } else if (const auto* resumed = std::get_if<trace::Resume>(&event.payload)) {
    step = resumed->step;
    phase = resumed->phase;
    ++phase_run;
    forward_seen = resumed->forward_seen != 0;
    micro_batch = resumed->micro_batch;
  }
}

}  // namespace memtrace::analysis
