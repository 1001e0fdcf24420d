// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_POSITION_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_POSITION_H_

#include <cstdint>

#include "profiler/trace/events/event.h"

namespace memtrace::analysis {

// The place in the program where something happened.
struct Position {
  uint64_t step = 0;         // 0: before the first step
  uint64_t micro_batch = 0;  // of the step, the latest begun; 0: none, or the trace does not say
  uint32_t phase_run = 0;    // counts the changes of phase; equal numbers: one stay in a phase
  trace::Phase phase = trace::Phase::kOther;
  bool forward_seen = false;  // a forward has begun before or at this point
  bool backward_seen = false;
  // Counts the changes from allocations of one module to those of another; equal numbers are of one
  // call of a module.
  uint32_t module_run = 0;
  trace::StringId module = 0;  // of the latest allocation

  // Follows steps, phases and modules, and a recording that begins in the middle; ignores every
  // other event.
  void Advance(const trace::Event& event);

  // Returns the birth of a block that lived when recording began, if recording began here.
  Position BirthOf(const trace::Alive& alive) const {
    return {.step = alive.step,
            .phase_run = alive.in_same_phase != 0 ? phase_run : 0,
            .phase = alive.phase,
            .forward_seen = forward_seen};
  }
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_POSITION_H_
