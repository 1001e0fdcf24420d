// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/operator_call.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <exception>

#include "interpose/torch/host_values/dispatch_keys.h"

namespace memtrace::shim {
namespace {

using c10::DispatchKey;

// True if a tensor's memory is not simply its elements, or if other code handles its operators
// first.
bool IsIrregular(const at::Tensor& tensor) {
  static const c10::DispatchKeySet kOthers(
      {DispatchKey::Python, DispatchKey::Fake, DispatchKey::Functionalize,
       DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchGradWrapper,
       DispatchKey::BatchedNestedTensor, DispatchKey::NestedTensor, DispatchKey::Sparse,
       DispatchKey::SparseCsr, DispatchKey::Quantized, DispatchKey::Conjugate,
       DispatchKey::Negative, DispatchKey::ZeroTensor});
  if (tensor.key_set().has_any(kOthers) || !tensor.has_storage()) return true;
  return !(tensor.is_cpu() || tensor.is_cuda());
}

bool HasMemory(const at::Tensor& tensor) {
  return tensor.numel() > 0 && tensor.unsafeGetTensorImpl()->storage().data() != nullptr;
}

bool IsWhole(const at::Tensor& tensor) {
  return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

bool IsZero(const c10::IValue& number) { return number.isScalar() && number.toScalar().equal(0); }

// Calls visit(tensor) for the tensors of an argument or result; lists may have undefined ones.
template <typename Visit>
void ForEachTensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor() && element.toTensor().defined()) visit(element.toTensor());
    }
  }
}

// The source of random numbers for the card, so that the program's own generators do not change.
const at::Generator& OurGenerator() {
  static const auto* generator = new at::Generator(at::detail::createCPUGenerator(1));
  return *generator;
}

// Runs the CPU's operators below autograd and all else that observes the program's own operators.
class PlainCpu {
 public:
  PlainCpu() : exclude_(Excluded()) {}

 private:
  static c10::DispatchKeySet Excluded() {
    static const c10::DispatchKeySet kKeys =
        c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
        c10::DispatchKeySet({DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                             DispatchKey::PythonDispatcher, DispatchKey::PreDispatch,
                             DispatchKey::Functionalize,
                             DispatchKey::FuncTorchDynamicLayerFrontMode,
                             DispatchKey::FuncTorchDynamicLayerBackMode,
                             DispatchKey::FuncTorchVmapMode, kLeafKey, kCompositeKey});
    return kKeys;
  }

  c10::impl::ExcludeDispatchKeyGuard exclude_;
  at::DisableRecordFunctionGuard unrecorded_;
};

}  // namespace

OperatorCall::OperatorCall(const OperatorFacts& facts, const CardContents& card,
                           const HostValuesPolicy& policy, const torch::jit::Stack& stack)
    : facts_(facts),
      card_(card),
      policy_(policy),
      stack_(stack),
      first_(stack.size() - facts.arguments.size()) {
  for (size_t i = 0; i < facts.arguments.size(); ++i) {
    const OperatorFacts::Argument& argument = facts.arguments[i];
    const c10::IValue& value = stack[first_ + i];
    if (argument.holds_tensors) {
      ForEachTensor(value, [&](const at::Tensor& tensor) { Look(argument, tensor); });
    } else if (argument.is_device && value.isDevice()) {
      concerns_card_ = concerns_card_ || value.toDevice().is_cuda();
    }
  }
  concerns_card_ = concerns_card_ && !is_irregular_;
  if (!concerns_card_) return;
  DetermineKnown();
  makes_zeros_ = facts.makes_zero || (facts.makes_constant && IsZero(stack[first_ + 1]));
}

void OperatorCall::Look(const OperatorFacts::Argument& argument, const at::Tensor& tensor) {
  if (IsIrregular(tensor)) is_irregular_ = true;
  if (is_irregular_ || !tensor.is_cuda()) return;
  concerns_card_ = true;
  storages_.push_back(tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
  if (argument.written && HasMemory(tensor)) written_.push_back(tensor);
  if (argument.overwritten || tensor.numel() == 0) return;
  if (!HasMemory(tensor)) is_irregular_ = true;  // its owner has resized it to nothing
  const OperatorRule& rule = *facts_.rule;
  const bool is_kept = facts_.reads_one_value || rule.count.has_value() || rule.StatesChoice();
  if (is_kept && !first_input_.defined()) first_input_ = tensor;
  read_.push_back(&tensor);
}

// Checks sizes first: most operators work on large activations, for which the card need not be
// asked.
void OperatorCall::DetermineKnown() {
  int64_t elements = 0;
  bool is_whole = true;
  for (const at::Tensor* tensor : read_) {
    elements += tensor->numel();
    is_whole = is_whole && IsWhole(*tensor);
  }
  const bool is_small = elements <= (is_whole ? policy_.most_whole : policy_.most_real);
  // An operator that only moves bytes is followed at any size.
  if (!is_small && !facts_.transport) return;
  known_ = Known::kKnown;
  for (const at::Tensor* tensor : read_) {
    known_ = std::min(known_, card_.KnownOf(*tensor));
    if (known_ == Known::kUnknown) return;
  }
  if (facts_.random) known_ = std::min(known_, Known::kAssumed);
}

bool OperatorCall::FitsLimit(const at::Tensor& tensor) const {
  return tensor.numel() <= (IsWhole(tensor) ? policy_.most_whole : policy_.most_real);
}

void OperatorCall::ForgetWrittenTensors() const {
  for (const at::Tensor& tensor : written_) card_.Forget(tensor);
}

void OperatorCall::TakeInputs() {
  const PlainCpu plain;
  torch::jit::Stack inputs;
  inputs.reserve(facts_.arguments.size());
  for (size_t i = 0; i < facts_.arguments.size(); ++i) {
    inputs.push_back(CopyOf(facts_.arguments[i], stack_[first_ + i]));
  }
  inputs_ = std::move(inputs);
}

at::Tensor OperatorCall::CopyOf(const OperatorFacts::Argument& argument, const at::Tensor& tensor) {
  if (!tensor.defined() || (tensor.is_cpu() && !argument.written)) return tensor;
  const at::TensorOptions options = at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU);
  at::Tensor copy;
  if (argument.resized) {
    copy = at::empty({0}, options);
  } else if (argument.overwritten || tensor.numel() == 0) {
    copy = at::empty_strided(tensor.sizes(), tensor.strides(), options);
  } else {
    copy = tensor.is_cpu() ? tensor.clone() : card_.Read(tensor);
  }
  TORCH_CHECK(copy.defined(), "the card's memory cannot be read");
  if (IsWidened(copy)) copy = copy.to(at::kDouble);
  if (argument.written) copies_.push_back({tensor, copy});
  return copy;
}

c10::IValue OperatorCall::CopyOf(const OperatorFacts::Argument& argument,
                                 const c10::IValue& value) {
  if (argument.is_device && value.isDevice()) return c10::Device(at::kCPU);
  if (argument.is_generator) return OurGenerator();
  if (argument.is_pin_memory) return c10::IValue();
  if (!argument.holds_tensors) return value;
  if (value.isTensor()) return CopyOf(argument, value.toTensor());
  if (!value.isList()) return value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> copies;
    for (const c10::IValue& element : value.toListRef()) {
      copies.push_back(CopyOf(argument, element.toTensor()));
    }
    return copies;
  }
  c10::List<std::optional<at::Tensor>> copies;
  for (const c10::IValue& element : value.toListRef()) {
    copies.push_back(element.isTensor()
                         ? std::optional<at::Tensor>(CopyOf(argument, element.toTensor()))
                         : std::nullopt);
  }
  return copies;
}

bool OperatorCall::Compute(const c10::OperatorHandle& op) {
  if (inputs_.empty() && !facts_.arguments.empty()) return false;
  try {
    const PlainCpu plain;
    results_ = std::move(inputs_);
    op.callBoxed(results_);
    facts_.succeeded = true;
    return true;
  } catch (const std::exception&) {
    // The CPU has no such operator for these types, or the values are out of range, which a kernel
    // on the card would not report either.
    ++facts_.failures;
    return false;
  }
}

std::optional<int64_t> OperatorCall::ResultLength() const {
  if (results_.empty() || !results_.front().isTensor()) return std::nullopt;
  const at::Tensor& first = results_.front().toTensor();
  return first.dim() > 0 ? first.size(0) : 1;
}

bool OperatorCall::IsArgument(const at::Tensor& tensor) const {
  const auto* storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  return std::find(storages_.begin(), storages_.end(), storage) != storages_.end();
}

bool OperatorCall::IsWidened(const at::Tensor& tensor) const {
  return facts_.rule->widens && c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

void OperatorCall::WriteTensor(const at::Tensor& to, at::Tensor values) const {
  if (IsIrregular(to) || to.numel() == 0) return;
  if (values.defined() && IsWidened(to)) values = values.to(to.scalar_type());
  const bool fits =
      values.defined() && values.sizes() == to.sizes() && values.scalar_type() == to.scalar_type();
  if (to.is_cpu()) {
    if (fits) to.copy_(values);
  } else if (!fits || !card_.Write(to, values, known_)) {
    card_.Forget(to);
  }
}

void OperatorCall::WriteResults(torch::jit::Stack& stack) const {
  const PlainCpu plain;
  for (const Written& written : copies_) WriteTensor(written.original, written.copy);
  const size_t count = facts_.result_is_argument.size();
  for (size_t i = 0; i < count; ++i) {
    if (facts_.result_is_argument[i]) continue;
    c10::IValue& result = stack[stack.size() - count + i];
    const c10::IValue& values = results_[i];
    if (facts_.gives_number) {
      result = values;
    } else if (result.isTensor() && values.isTensor() && result.toTensor().defined()) {
      WriteTensor(result.toTensor(), values.toTensor());
    } else if (result.isTensorList() && values.isTensorList()) {
      const auto to = result.toTensorVector();
      const auto from = values.toTensorVector();
      for (size_t j = 0; j < std::min(to.size(), from.size()); ++j) WriteTensor(to[j], from[j]);
    }
  }
}

// Returns what the rule states for a result of the operator. Even indices run through the last
// dimension of the first input again and again. Nothing for a result that the rule is not about.
at::Tensor OperatorCall::StatedResult(const at::Tensor& tensor, Choice choice) const {
  const auto options = at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU);
  if (facts_.rule->result) return at::full(tensor.sizes(), *facts_.rule->result, options);
  if (tensor.scalar_type() != at::kLong || tensor.dim() == 0) return {};
  if (choice == Choice::kFirst)
    return at::arange(tensor.size(-1), options).expand(tensor.sizes()).contiguous();
  return at::arange(tensor.numel(), options).remainder(first_input_.size(-1)).view(tensor.sizes());
}

void OperatorCall::FillResults(const torch::jit::Stack& stack, Choice choice) const {
  const PlainCpu plain;
  const size_t count = facts_.result_is_argument.size();
  for (size_t i = 0; i < count; ++i) {
    ForEachTensor(stack[stack.size() - count + i], [&](const at::Tensor& tensor) {
      if (IsIrregular(tensor) || !tensor.is_cuda() || tensor.numel() == 0) return;
      const at::Tensor stated = FitsLimit(tensor) ? StatedResult(tensor, choice) : at::Tensor();
      if (stated.defined()) {
        card_.Write(tensor, stated, Known::kAssumed);
      } else {
        card_.Forget(tensor);
      }
    });
  }
}

void OperatorCall::ForgetResults(const torch::jit::Stack& stack, bool results_too) const {
  for (const at::Tensor& tensor : written_) card_.Forget(tensor);
  if (!results_too) return;
  const size_t count = facts_.result_is_argument.size();
  for (size_t i = 0; i < count; ++i) {
    if (facts_.result_is_argument[i]) continue;
    ForEachTensor(stack[stack.size() - count + i], [&](const at::Tensor& tensor) {
      if (!tensor.is_cuda() || IsIrregular(tensor) || !HasMemory(tensor)) return;
      if (!IsArgument(tensor)) card_.Forget(tensor);
    });
  }
}

void OperatorCall::WriteZeros() const {
  for (const at::Tensor& tensor : written_) {
    if (tensor.is_non_overlapping_and_dense()) {
      card_.Clear(tensor);
    } else {
      card_.Forget(tensor);
    }
  }
}

bool OperatorCall::WrittenFitsLimit() const {
  return std::all_of(written_.begin(), written_.end(),
                     [this](const at::Tensor& tensor) { return FitsLimit(tensor); });
}

bool OperatorCall::ResultsFitLimit(const torch::jit::Stack& stack) const {
  bool fits = true;
  const auto look = [&](const at::Tensor& tensor) { fits = fits && FitsLimit(tensor); };
  const size_t count = facts_.result_is_argument.size();
  for (size_t i = 0; i < count; ++i) ForEachTensor(stack[stack.size() - count + i], look);
  for (const at::Tensor& tensor : written_) look(tensor);
  return fits;
}

}  // namespace memtrace::shim
