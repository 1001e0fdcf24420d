// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_CALL_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_CALL_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/operator_facts.h"

namespace memtrace::shim {

// One call of an operator: how well the tensors that it reads are known, and its values, computed
// by the same operator of the CPU on copies of the card's memory.
//
//   OperatorCall call(facts, card, policy, stack);   the arguments are on the stack
//   call.TakeInputs();                                 copies, before the operator changes them
//   ... the operator itself runs ...                   the results are on the stack
//   call.Compute(op); call.WriteResults();
//
// Thread rule: one thread, one call.
class OperatorCall {
 public:
  OperatorCall(const OperatorFacts& facts, const CardContents& card, const HostValuesPolicy& policy,
               const torch::jit::Stack& stack);

  // True if all tensors are plain, and one of them is on the card or is to be made there.
  bool concerns_card() const { return concerns_card_; }
  // The weakest knowledge of all tensors that it reads on the card.
  Known known() const { return known_; }
  // Kept only for operators that read one value, have a count, or choose by indices.
  const at::Tensor& first_input() const { return first_input_; }

  void ForgetWrittenTensors() const;
  void TakeInputs();
  bool has_inputs() const { return !inputs_.empty(); }

  // True if the written tensor gets zeros, which are known at any size and without their bytes.
  bool makes_zeros() const { return makes_zeros_; }
  void WriteZeros() const;

  // True if the written tensors are small enough to be computed.
  bool WrittenFitsLimit() const;
  // True if the results on the stack and the written tensors are small enough to be computed.
  bool ResultsFitLimit(const torch::jit::Stack& stack) const;

  // Returns false if the CPU cannot do it.
  bool Compute(const c10::OperatorHandle& op);
  // Returns the size of the first result's first dimension.
  std::optional<int64_t> ResultLength() const;
  const c10::IValue& result(size_t index) const { return results_[index]; }

  // REQUIRES: Compute was successful. The operator's own results are on the stack.
  void WriteResults(torch::jit::Stack& stack) const;
  // Sets every result that is small enough to be computed to the rule's value or to this choice, as
  // assumed. REQUIRES: the rule states one of them.
  void FillResults(const torch::jit::Stack& stack, Choice choice) const;
  // Marks its written tensors as unknown. Memory fresh from the allocator is unknown already:
  // results must be forgotten only if the card saw copies or fills meanwhile (`results_too`).
  void ForgetResults(const torch::jit::Stack& stack, bool results_too) const;

 private:
  struct Written {
    at::Tensor original;
    at::Tensor copy;
  };

  void Look(const OperatorFacts::Argument& argument, const at::Tensor& tensor);
  void DetermineKnown();
  bool FitsLimit(const at::Tensor& tensor) const;
  bool IsArgument(const at::Tensor& tensor) const;
  void WriteTensor(const at::Tensor& to, at::Tensor values) const;
  at::Tensor CopyOf(const OperatorFacts::Argument& argument, const at::Tensor& tensor);
  at::Tensor StatedResult(const at::Tensor& tensor, Choice choice) const;
  bool IsWidened(const at::Tensor& tensor) const;
  c10::IValue CopyOf(const OperatorFacts::Argument& argument, const c10::IValue& value);

  const OperatorFacts& facts_;
  const CardContents& card_;
  const HostValuesPolicy& policy_;
  const torch::jit::Stack& stack_;
  size_t first_ = 0;  // index of the first argument on the stack

  bool concerns_card_ = false;
  bool is_irregular_ = false;
  bool makes_zeros_ = false;
  Known known_ = Known::kUnknown;
  // All of these are on the card. read_ is valid only until the operator takes its arguments.
  c10::SmallVector<const at::Tensor*, 8> read_;
  c10::SmallVector<at::Tensor, 4> written_;
  c10::SmallVector<const void*, 8> storages_;
  at::Tensor first_input_;

  torch::jit::Stack inputs_;
  torch::jit::Stack results_;
  std::vector<Written> copies_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_OPERATOR_CALL_H_
