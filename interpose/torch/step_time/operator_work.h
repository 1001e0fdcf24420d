// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_WORK_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_WORK_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "interpose/torch/host_values/operator_facts.h"
#include "interpose/torch/step_time/operator_rules.h"
#include "interpose/torch/step_time/time_rules.h"

namespace memtrace::shim {

// The work of one call of an operator, from the shapes, types and strides of its arguments and
// results.
//
// Thread rule: one thread, one call.
class OperatorWork {
 public:
  // The arguments are on the stack.
  OperatorWork(const c10::OperatorHandle& op, const OperatorFacts& facts,
               const torch::jit::Stack& stack);

  // Adds what the results take. They are on the stack now.
  void AddResults(const torch::jit::Stack& stack);

  // True for a copy between two devices, which launches no kernel.
  bool is_copy() const { return is_copy_; }
  const Work& work() const { return work_; }

 private:
  // Returns the argument of that name; none if there is no such argument.
  static const c10::IValue& Argument(const c10::FunctionSchema& schema, const char* name,
                                     const torch::jit::Stack& stack);
  void LookAtProduct(const torch::jit::Stack& stack);
  void LookAtAttention(const c10::FunctionSchema& schema, const torch::jit::Stack& stack);
  void LookAtConvolution(const c10::FunctionSchema& schema, const torch::jit::Stack& stack);
  void LookAtCopy(const torch::jit::Stack& stack);
  void LookAtNumber();

  const OperatorFacts& facts_;
  const WorkRule& rule_;
  Work work_;
  double operations_for_each_result_ = 0;  // of a convolution, for each element
  bool counts_results_ = true;
  bool is_copy_ = false;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_WORK_H_
