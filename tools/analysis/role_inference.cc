// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/role_inference.h"

#include "profiler/trace/inferred_role.h"
#include "tools/analysis/frame_rules.h"

namespace memtrace::analysis {

using trace::Phase;
using trace::Role;

trace::Role InferRole(const Block& block, const Position& end) {
  const bool gone = block.freed || block.waiting;
  const Position& last = gone ? block.death : end;
  return trace::InferRole(block.birth.phase, last.phase_run == block.birth.phase_run, gone);
}

trace::Role InferRequestRole(const Position& at, const std::vector<trace::Frame>& stack) {
  if (IsOptimizerStateCreation(stack)) return Role::kOptimizerState;
  switch (at.phase) {
    case Phase::kForward:
    case Phase::kRecompute:
      return Role::kActivation;
    case Phase::kBackward:
      return Role::kTemporary;
    case Phase::kOptimizer:
      return IsForeachUpdate(stack) ? Role::kTemporary : Role::kUnknown;
    default:
      return Role::kUnknown;
  }
}

}  // namespace memtrace::analysis
