// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/phase_reader.h"

namespace memtrace::interchange {

using trace::Phase;

void PhaseReader::Allocated(const StackClues& clues) {
  const Phase next = Next(clues);
  if (next == phase_) return;
  CountStep(next);
  if (IsBackward(next) != IsBackward(phase_)) ++pass_;
  phase_ = next;
}

Phase PhaseReader::Next(const StackClues& clues) const {
  if (clues.phase) return *clues.phase;
  if (!clues.has_frames) {
    // Neither the update nor the building of a model has threads of its own.
    const bool may_be_backward = phase_ != Phase::kInit && phase_ != Phase::kOptimizer;
    return empty_is_autograd_ && may_be_backward ? Phase::kBackward : phase_;
  }
  // The program itself goes on, so backward and update have returned. A hook that autograd's thread
  // calls says nothing.
  const bool returned = IsBackward(phase_) || phase_ == Phase::kOptimizer;
  return returned && clues.is_of_program ? Phase::kOther : phase_;
}

void PhaseReader::CountStep(Phase next) {
  if (step_ == 0 && next != Phase::kOther) step_ = 1;
  if (IsBackward(next)) backward_in_step_ = true;
  if (phase_ != Phase::kOptimizer || !backward_in_step_) return;
  ++step_;
  backward_in_step_ = IsBackward(next);
}

}  // namespace memtrace::interchange
