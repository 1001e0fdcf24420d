// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIMED_CALL_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIMED_CALL_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>

#include "interpose/torch/host_values/operator_facts.h"
#include "interpose/torch/step_time/operator_work.h"
#include "interpose/torch/step_time/step_times.h"

namespace memtrace::shim {

// Counts one call of an operator for the time of a step, while it lives. Operators that are seen
// within it count for themselves; it then has only the kernels that it launches itself. Does
// nothing, after one look at a variable, unless times are counted.
//
// Thread rule: one thread, one call.
class TimedCall {
 public:
  // The arguments are on the stack.
  TimedCall(const c10::OperatorHandle& op, const OperatorFacts& facts,
            const torch::jit::Stack& stack) {
    if (StepTimes* times = StepTimes::OfProcess(); times != nullptr && !facts.view)
      Begin(*times, op, facts, stack);
  }
  ~TimedCall() {
    if (begun_) Leave();
  }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

  // The operator has run; its results are on the stack.
  void End(const torch::jit::Stack& stack) {
    if (begun_) Count(stack);
  }

 private:
  struct Begun {
    StepTimes& times;
    const OperatorFacts& facts;
    OperatorWork work;
    TimedCall* outer;
    uint64_t launches_before;
    uint64_t writes_before;
    uint64_t kernels_inside = 0;  // launched by operators within it
    bool has_inside = false;      // such operators did something
  };

  void Begin(StepTimes& times, const c10::OperatorHandle& op, const OperatorFacts& facts,
             const torch::jit::Stack& stack);
  void Count(const torch::jit::Stack& stack);
  void Leave();

  std::optional<Begun> begun_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIMED_CALL_H_
