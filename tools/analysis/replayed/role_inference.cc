// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/role_inference.h"

#include <algorithm>

#include "profiler/trace/events/inferred_role.h"
#include "tools/analysis/source/frame_rules.h"

namespace memtrace::analysis {

using trace::Phase;
using trace::Role;

namespace {

// True if a block is kept for a backward that never runs. With gradients on, this is a block that
// outlives its module's call, even if it goes with the result in the same stay in forward.
bool IsKeptForMissingBackward(const Block& block, const Position& last, const Position& end) {
  return block.birth.phase == Phase::kForward && !end.backward_seen &&
         last.module_run != block.birth.module_run;
}

}  // namespace

trace::Role InferRole(const Block& block, const Position& end) {
  const bool gone = block.freed || block.waiting;
  const Position& last = gone ? block.death : end;
  const Role role =
      trace::InferRole(block.birth.phase, last.phase_run == block.birth.phase_run, gone);
  return role == Role::kTemporary && IsKeptForMissingBackward(block, last, end) ? Role::kActivation
                                                                                : role;
}

trace::Role InferRequestRole(const Position& at, const std::vector<trace::Frame>& stack) {
  if (IsOptimizerStateCreation(stack)) return Role::kOptimizerState;
  switch (at.phase) {
    case Phase::kForward:
    case Phase::kRecompute:
      return Role::kActivation;
    case Phase::kEvaluate:
    case Phase::kGenerate:
      return std::any_of(stack.begin(), stack.end(), IsModuleCall) ? Role::kActivation
                                                                   : Role::kUnknown;
    case Phase::kBackward:
      return Role::kTemporary;
    case Phase::kOptimizer:
      return IsForeachUpdate(stack) ? Role::kTemporary : Role::kUnknown;
    default:
      return Role::kUnknown;
  }
}

}  // namespace memtrace::analysis
