// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/role_inference.h"

#include "tools/analysis/frames.h"

namespace memtrace::analysis {

using trace::Phase;
using trace::Role;

trace::Role InferRole(const Block& block, const Position& end) {
  const Position& last = block.freed || block.waiting ? block.death : end;
  const bool stayed_in_phase = last.phase_run == block.birth.phase_run;
  const bool gone = block.freed || block.waiting;
  switch (block.birth.phase) {
    case Phase::kForward:
    case Phase::kRecompute:
    case Phase::kEvaluate:
    case Phase::kGenerate:
      // What the forward still holds when the trace ends waits for a backward that never came; what
      // an evaluation leaves behind is what the program wanted of it.
      return gone && stayed_in_phase ? Role::kTemporary : Role::kActivation;
    case Phase::kOptimizer:
      return stayed_in_phase ? Role::kTemporary : Role::kOptimizerState;
    case Phase::kBackward:
      return Role::kTemporary;
    case Phase::kOther:
    case Phase::kInit:
      return Role::kUnknown;
  }
  return Role::kUnknown;
}

trace::Role InferRequestRole(const Position& at, const std::vector<trace::Frame>& stack) {
  switch (at.phase) {
    case Phase::kForward:
    case Phase::kRecompute:
      return Role::kActivation;
    case Phase::kBackward:
      return Role::kTemporary;
    case Phase::kOptimizer:
      if (IsForeachUpdate(stack)) return Role::kTemporary;
      return IsOptimizerStateCreation(stack) ? Role::kOptimizerState : Role::kUnknown;
    default:
      return Role::kUnknown;
  }
}

}  // namespace memtrace::analysis
