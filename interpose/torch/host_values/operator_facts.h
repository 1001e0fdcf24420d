// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_FACTS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_FACTS_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <string>
#include <vector>

#include "interpose/torch/host_values/policy.h"

namespace memtrace::shim {

// What an operator's schema, kernels and rule say about it, worked out once.
struct OperatorFacts {
  struct Argument {
    bool holds_tensors = false;  // a tensor or a list of them
    bool written = false;
    bool overwritten = false;  // its old values do not matter
    bool resized = false;      // an `out` argument takes the result's size
    bool is_device = false;
    bool is_generator = false;
    bool is_pin_memory = false;
  };

  explicit OperatorFacts(const c10::OperatorHandle& op, const HostValuesPolicy& policy);

  std::string name;
  std::string overload;
  const OperatorRule* rule = nullptr;
  std::vector<Argument> arguments;
  std::vector<bool> result_is_argument;  // by result

  bool takes_tensors = false;
  bool takes_device = false;
  // Views, and what is put together from other operators: those are seen themselves.
  bool transparent = false;
  bool view = false;  // one of them that launches nothing
  // copy_ only moves bytes: by the card's own copies wherever it can, and those know.
  bool transport = false;
  // Other operators are seen inside it.
  bool open = false;
  // The same operator of the CPU gives the values that this one would.
  bool computable = false;
  bool reads_one_value = false;  // _local_scalar_dense
  bool gives_number = false;     // or equal: its result is not a tensor
  bool random = false;
  // Its first argument gets zeros, or what its second says.
  bool makes_zero = false;
  bool makes_constant = false;

  // An operator that the CPU cannot do is not tried for ever.
  bool WorthTrying() const { return computable && (succeeded || failures < 8); }
  mutable std::atomic<int> failures = 0;
  mutable std::atomic<bool> succeeded = false;
};

// The facts about an operator; they live for ever.
const OperatorFacts& FactsOf(const c10::OperatorHandle& op, const HostValuesPolicy& policy);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_FACTS_H_
