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

// Facts that follow from an operator's schema, kernels and rule, computed once.
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
  std::vector<bool> result_is_argument;  // one element for each result

  bool takes_tensors = false;
  bool takes_device = false;
  // Views, and operators composed of others, which are seen themselves.
  bool transparent = false;
  bool view = false;        // a view, which launches nothing
  bool collective = false;  // of a process group
  // copy_ only moves bytes, where possible by the card's own copies, which keep what is known.
  bool transport = false;
  // Other operators are seen inside it.
  bool open = false;
  // The CPU's operator of the same name gives the values that this one would.
  bool computable = false;
  bool reads_one_value = false;  // _local_scalar_dense
  bool gives_number = false;     // that one or equal: its result is not a tensor
  bool random = false;
  // Its first argument becomes zero, or the number in its second argument.
  bool makes_zero = false;
  bool makes_constant = false;

  // False after some failures, so that an operator that the CPU cannot do is not tried forever.
  bool IsWorthTrying() const { return computable && (succeeded || failures < 8); }
  mutable std::atomic<int> failures = 0;
  mutable std::atomic<bool> succeeded = false;
};

// Returns the facts about an operator, which live until the process ends.
const OperatorFacts& FactsOf(const c10::OperatorHandle& op, const HostValuesPolicy& policy);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_FACTS_H_
