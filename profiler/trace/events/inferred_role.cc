// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/inferred_role.h"

namespace memtrace::trace {

Role InferRole(Phase birth, bool stayed_in_phase, bool gone) {
  switch (birth) {
    case Phase::kForward:
    case Phase::kRecompute:
    case Phase::kEvaluate:
    case Phase::kGenerate:
      // A block that the forward still holds when the trace ends waits for a backward that never
      // came; one that an evaluation leaves behind is its result.
      return gone && stayed_in_phase ? Role::kTemporary : Role::kActivation;
    case Phase::kOptimizer:
      return stayed_in_phase ? Role::kTemporary : Role::kOptimizerState;
    case Phase::kBackward:
      return Role::kTemporary;
    case Phase::kInit:
      // Copies made while a model is built are freed before its first forward.
      return gone && stayed_in_phase ? Role::kTemporary : Role::kUnknown;
    case Phase::kOther:
      return Role::kUnknown;
  }
  return Role::kUnknown;
}

}  // namespace memtrace::trace
