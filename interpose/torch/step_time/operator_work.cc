// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/operator_work.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <algorithm>

#include "interpose/torch/step_time/operator_rules.h"

namespace memtrace::shim {
namespace {

using torch::jit::Stack;

constexpr int64_t kAlignment = 16;  // bytes of a row that cuBLAS' fast kernels need
constexpr double kHalf = 0.5;       // the part of the square that causal attention computes
// Kernels that turn a matrix read or write single elements (bench/card_times.py). Casts take longer
// than their bytes.
constexpr double kTurnedPasses = 5.6;
constexpr double kCastPasses = 1.53;

// Returns the bytes on the card; dimensions that are only expanded have none.
double BytesOf(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda() || tensor.is_sparse()) return 0;
  double elements = tensor.numel() == 0 ? 0 : 1;
  for (int64_t i = 0; i < tensor.dim() && elements > 0; ++i)
    if (tensor.stride(i) != 0) elements *= static_cast<double>(tensor.size(i));
  return elements * static_cast<double>(tensor.element_size());
}

template <typename Visit>
void ForEachTensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef())
      if (element.isTensor() && element.toTensor().defined()) visit(element.toTensor());
  }
}

double BytesOf(const c10::IValue& value) {
  double bytes = 0;
  ForEachTensor(value, [&](const at::Tensor& tensor) { bytes += BytesOf(tensor); });
  return bytes;
}

const at::Tensor* TensorOf(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? &value.toTensor() : nullptr;
}

// torch refuses the question if the program has used the old and the new way to set it.
bool AllowsTf32(bool is_convolution) {
  try {
    return is_convolution ? at::globalContext().allowTF32CuDNN()
                          : at::globalContext().allowTF32CuBLAS();
  } catch (const std::exception&) {
    return false;
  }
}

NumberForm FormOf(const at::Tensor& tensor, bool is_convolution) {
  switch (tensor.scalar_type()) {
    case at::kBFloat16:
      return NumberForm::kBfloat16;
    case at::kHalf:
      return NumberForm::kFloat16;
    case at::kFloat:
      return AllowsTf32(is_convolution) ? NumberForm::kTf32 : NumberForm::kFloat32;
    default:
      return tensor.element_size() == 1 ? NumberForm::kFloat8 : NumberForm::kFloat32;
  }
}

// True if each row of the matrix, or of the result with its number of columns, is aligned.
bool HasAlignedRows(const at::Tensor& matrix) {
  if (matrix.dim() < 2) return true;
  const int64_t row = std::max(matrix.stride(-1), matrix.stride(-2));
  return row * static_cast<int64_t>(matrix.element_size()) % kAlignment == 0;
}

bool IsChannelsLast(const at::Tensor& tensor) {
  const auto format = tensor.suggest_memory_format();
  return format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d;
}

void DescribeProduct(const at::Tensor& first, const at::Tensor& second, Work& work) {
  const double columns = second.dim() > 0 ? static_cast<double>(second.size(-1)) : 1.0;
  work.form = FormOf(first, false);
  work.operations = 2 * static_cast<double>(first.numel()) * columns;
  const bool has_aligned_result =
      second.dim() < 2 ||
      second.size(-1) * static_cast<int64_t>(second.element_size()) % kAlignment == 0;
  work.is_aligned = HasAlignedRows(first) && HasAlignedRows(second) && has_aligned_result;
}

// Describes attention of heads over [batch, heads, length, size]; if `has_heads_last`, over [batch,
// length, heads, size], or over [all tokens, heads, size] with texts of up to `longest` keys.
void DescribeAttention(const at::Tensor& query, const at::Tensor& key, bool has_heads_last,
                       double longest, bool is_causal, Work& work) {
  const int64_t length_at = has_heads_last ? -3 : -2;
  const bool is_packed = query.dim() < 4;
  const auto keys = is_packed ? longest : static_cast<double>(key.size(length_at));
  work.length = is_packed ? longest : static_cast<double>(query.size(length_at));
  work.head = static_cast<double>(query.size(-1));
  work.form = FormOf(query, false);
  const double square = work.length == keys && is_causal ? kHalf : 1.0;
  const double forward = 4 * static_cast<double>(query.numel()) * keys * square;
  work.operations = work.is_backward ? 2.5 * forward : forward;
}

void DescribeCopy(const at::Tensor& to, const at::Tensor& from, bool is_blocking, Work& work) {
  const at::Tensor& host = to.is_cpu() ? to : from;
  work.kind = to.is_cpu() ? WorkKind::kToHost : WorkKind::kToCard;
  work.bytes = static_cast<double>(from.numel()) * static_cast<double>(from.element_size());
  work.is_pinned = at::detail::getCUDAHooks().isPinnedPtr(host.const_data_ptr());
  work.is_awaited = is_blocking || !work.is_pinned;
}

// Returns how often a copy on the card moves its bytes.
double PassesOfCopy(const at::Tensor& to, const at::Tensor& from) {
  const bool is_turned = to.dim() > 1 && to.sizes() == from.sizes() && to.stride(-1) == 1 &&
                         from.stride(-1) > 1 && from.size(-1) > 1;
  if (is_turned && from.stride(-2) == 1) return kTurnedPasses;
  return to.scalar_type() == from.scalar_type() ? 1.0 : kCastPasses;
}

// Returns the place of the argument of which almost nothing is read.
size_t SkippedBy(const WorkRule& rule) {
  constexpr size_t kNone = ~size_t{0};
  if (rule.use == ArgumentUse::kAll) return kNone;
  return rule.use == ArgumentUse::kSkipsSecond ? 1 : 0;
}

// Adds the bytes of the arguments. A tensor that is given twice is read once.
void AddArguments(const OperatorFacts& facts, const WorkRule& rule, const Stack& stack,
                  Work& work) {
  const size_t first = stack.size() - facts.arguments.size();
  c10::SmallVector<const void*, 8> seen;
  for (size_t i = 0; i < facts.arguments.size(); ++i) {
    const OperatorFacts::Argument& argument = facts.arguments[i];
    if (!argument.holds_tensors || argument.resized) continue;
    if (i == SkippedBy(rule)) continue;
    const c10::IValue& value = stack[first + i];
    if (const at::Tensor* tensor = TensorOf(value)) {
      const void* storage = tensor->unsafeGetTensorImpl();
      if (std::find(seen.begin(), seen.end(), storage) != seen.end()) continue;
      seen.push_back(storage);
    }
    const bool is_changed = argument.written && !argument.overwritten;
    work.bytes += (is_changed ? 2 : 1) * BytesOf(value);
  }
  if (rule.use == ArgumentUse::kScatters) work.bytes *= 3;  // what it changes is read and written
}

}  // namespace

const c10::IValue& OperatorWork::Argument(const c10::FunctionSchema& schema, const char* name,
                                          const Stack& stack) {
  static const c10::IValue kNone;
  const std::optional<int> place = schema.argumentIndexWithName(name);
  if (!place) return kNone;
  return stack[stack.size() - schema.arguments().size() + static_cast<size_t>(*place)];
}

OperatorWork::OperatorWork(const c10::OperatorHandle& op, const OperatorFacts& facts,
                           const Stack& stack)
    : facts_(facts), rule_(WorkRuleOf(facts.name)) {
  work_.kind = rule_.kind;
  work_.kernel = rule_.kernel;
  work_.is_backward = rule_.is_backward;
  work_.is_unknown = rule_.is_unknown;
  work_.passes = rule_.passes;
  AddArguments(facts, rule_, stack, work_);
  switch (rule_.kind) {
    case WorkKind::kProduct:
      LookAtProduct(stack);
      break;
    case WorkKind::kAttention:
      LookAtAttention(op.schema(), stack);
      break;
    case WorkKind::kConvolution:
      LookAtConvolution(op.schema(), stack);
      break;
    default:
      if (facts.transport) LookAtCopy(stack);
      if (facts.reads_one_value) LookAtNumber();
  }
}

void OperatorWork::LookAtProduct(const Stack& stack) {
  const size_t place = stack.size() - facts_.arguments.size() + rule_.first_factor;
  const at::Tensor* first = TensorOf(stack[place]);
  const at::Tensor* second = TensorOf(stack[place + 1]);
  if (first != nullptr && second != nullptr) DescribeProduct(*first, *second, work_);
}

void OperatorWork::LookAtAttention(const c10::FunctionSchema& schema, const Stack& stack) {
  const auto find = [&](const char* name, const char* otherwise) -> const c10::IValue& {
    const c10::IValue& found = Argument(schema, name, stack);
    return found.isNone() ? Argument(schema, otherwise, stack) : found;
  };
  const at::Tensor* query = TensorOf(find("query", "q"));
  const at::Tensor* key = TensorOf(find("key", "k"));
  if (query == nullptr || key == nullptr || query->dim() < 3) return;
  const c10::IValue& causal = find("is_causal", "causal");
  const c10::IValue& mask_kind = Argument(schema, "custom_mask_type", stack);
  const bool is_causal =
      (causal.isBool() && causal.toBool()) || (mask_kind.isInt() && mask_kind.toInt() != 0);
  const c10::IValue& longest = find("max_k", "max_seqlen_k");
  DescribeAttention(*query, *key, rule_.has_heads_last,
                    longest.isInt() ? static_cast<double>(longest.toInt()) : 0, is_causal, work_);
}

void OperatorWork::LookAtConvolution(const c10::FunctionSchema& schema, const Stack& stack) {
  const at::Tensor* weight = TensorOf(Argument(schema, "weight", stack));
  const c10::IValue& self = Argument(schema, "self", stack);
  const at::Tensor* input = TensorOf(self.isNone() ? Argument(schema, "input", stack) : self);
  if (weight == nullptr || input == nullptr || weight->dim() < 3 || weight->size(0) == 0) return;
  work_.form = FormOf(*weight, true);
  work_.is_rearranged = !IsChannelsLast(*weight) && !IsChannelsLast(*input);
  const double kernel =
      2 * static_cast<double>(weight->numel()) / static_cast<double>(weight->size(0));
  const c10::IValue& transposed = Argument(schema, "transposed", stack);
  const bool is_transposed = rule_.is_transposed || (transposed.isBool() && transposed.toBool());
  if (rule_.is_backward) {
    const at::Tensor* gradient = TensorOf(Argument(schema, "grad_output", stack));
    const c10::IValue& mask = Argument(schema, "output_mask", stack);
    const at::Tensor* wide = is_transposed ? input : gradient;
    if (gradient == nullptr || !mask.isBoolList()) return;
    const auto wanted = mask.toBoolList();
    const double times = (wanted[0] ? 1 : 0) + (wanted[1] ? 1 : 0);
    work_.operations = times * kernel * static_cast<double>(wide->numel());
    work_.bytes = times * (BytesOf(*input) + BytesOf(*gradient));
    counts_results_ = false;
  } else if (is_transposed) {
    work_.operations = kernel * static_cast<double>(input->numel());
  } else {
    operations_for_each_result_ = kernel;
  }
}

void OperatorWork::LookAtCopy(const Stack& stack) {
  const size_t place = stack.size() - facts_.arguments.size();
  const at::Tensor* to = TensorOf(stack[place]);
  const at::Tensor* from = TensorOf(stack[place + 1]);
  if (to == nullptr || from == nullptr) return;
  const c10::IValue& non_blocking = stack[place + 2];
  const bool is_blocking = !(non_blocking.isBool() && non_blocking.toBool());
  if (to->is_cuda() && from->is_cuda()) {
    work_.passes = PassesOfCopy(*to, *from);
    if (to->device() != from->device()) work_.kind = WorkKind::kToOtherCard;
  } else if ((to->is_cuda() && from->is_cpu()) || (to->is_cpu() && from->is_cuda())) {
    DescribeCopy(*to, *from, is_blocking, work_);
  } else {
    return;
  }
  is_copy_ = from->numel() > 0;
}

void OperatorWork::LookAtNumber() {
  work_.kind = WorkKind::kToHost;
  is_copy_ = work_.bytes > 0;
}

void OperatorWork::AddResults(const Stack& stack) {
  if (!counts_results_ || is_copy_) return;
  const size_t count = facts_.result_is_argument.size();
  for (size_t i = 0; i < count; ++i) {
    if (facts_.result_is_argument[i]) continue;
    const c10::IValue& result = stack[stack.size() - count + i];
    const double times = rule_.use == ArgumentUse::kGathers ? 2 : 1;
    work_.bytes += times * BytesOf(result);
    if (const at::Tensor* tensor = TensorOf(result); tensor != nullptr && i == 0)
      work_.operations += operations_for_each_result_ * static_cast<double>(tensor->numel());
  }
}

}  // namespace memtrace::shim
