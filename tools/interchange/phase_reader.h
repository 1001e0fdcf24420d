// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PHASE_READER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PHASE_READER_H_

#include <cstdint>

#include "profiler/trace/events/event.h"
#include "tools/interchange/stack_reader.h"

namespace memtrace::interchange {

// The phases of a program, read off the stacks of its allocations and frees, in order
// (docs/reference/interchange.md). A phase goes on until a stack shows another, because most of a
// loss has no frame that tells.
class PhaseReader {
 public:
  // `from_start`: what comes before the first forward is init. `empty_is_autograd`: stacks only
  // have frames of Python, so that autograd's threads have none.
  PhaseReader(bool from_start, bool empty_is_autograd)
      : phase_(from_start ? trace::Phase::kInit : trace::Phase::kOther),
        empty_is_autograd_(empty_is_autograd) {}

  void Allocated(const StackClues& clues);
  // A free without a stack says nothing, because many snapshots have no stacks of frees.
  void Freed(const StackClues& clues) {
    if (clues.has_frames) Allocated(clues);
  }

  trace::Phase phase() const { return phase_; }
  // Counts backwards and what lies between them: what a checkpoint runs again belongs to its
  // backward.
  uint32_t pass() const { return pass_; }
  bool in_backward() const { return IsBackward(phase_); }
  // The number of the step, counted as memtrace's own hooks do: 0 before the first forward; a step
  // ends with the first update after a backward.
  uint32_t step() const { return step_; }

 private:
  static bool IsBackward(trace::Phase phase) {
    return phase == trace::Phase::kBackward || phase == trace::Phase::kRecompute;
  }
  trace::Phase Next(const StackClues& clues) const;
  void CountStep(trace::Phase next);

  trace::Phase phase_;
  bool empty_is_autograd_;
  uint32_t pass_ = 0;
  uint32_t step_ = 0;
  bool backward_in_step_ = false;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PHASE_READER_H_
