// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_SLEEPING_TENSORS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_SLEEPING_TENSORS_H_

#include <ATen/core/stack.h>

#include "interpose/core/memtrace.h"
#include "interpose/torch/host_values/operator_facts.h"

namespace memtrace::shim {

// Throws an error that names the operator and the owner if an argument's memory sleeps
// (memtrace.sleep), unless the operator uses only the argument's shape.
void CheckAllAwake(const OperatorFacts& facts, const torch::jit::Stack& stack);

inline void CheckAwake(const OperatorFacts& facts, const torch::jit::Stack& stack) {
  if (memtrace_has_asleep() != 0) CheckAllAwake(facts, stack);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_SLEEPING_TENSORS_H_
