// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/sleeping_tensors.h"

#include <ATen/core/Tensor.h>

#include <array>

#include "interpose/torch/operations/shape_operators.h"

namespace memtrace::shim {
namespace {

void Check(const OperatorFacts& facts, const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || !tensor.device().is_cuda()) return;
  const void* address = tensor.storage().data();
  std::array<char, 256> owner{};
  if (memtrace_find_asleep(address, owner.data(), owner.size()) == 0) return;
  TORCH_CHECK(false, facts.name, " was given memory of '", owner.data(),
              "', which is asleep. Call memtrace.wake('", owner.data(), "') first.");
}

}  // namespace

void CheckAllAwake(const OperatorFacts& facts, const torch::jit::Stack& stack) {
  if (facts.transparent || facts.view || UsesOnlyShapes(facts.name)) return;
  for (size_t i = stack.size() - facts.arguments.size(); i < stack.size(); ++i) {
    const c10::IValue& value = stack[i];
    if (value.isTensor()) Check(facts, value.toTensor());
    if (!value.isList()) continue;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) Check(facts, element.toTensor());
    }
  }
}

}  // namespace memtrace::shim
