// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of parameters, said to the recorder at the end of each backward pass: read from
// torch's own objects, since Python makes one of its own for every gradient it looks at (1.4 us
// each, a twentieth of a small model's step).
#include <ATen/core/Tensor.h>

#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {
namespace {

constexpr int kGradient = 2;  // the value of trace::Role::kGradient, for the C ABI

struct Range {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// True if only Python knows which part of the tensor lies on this card (DTensor), or that none does
// (FakeTensor).
bool IsMadeInPython(const c10::TensorImpl& tensor) {
  return tensor.key_set().has(c10::DispatchKey::Python);
}

// False for a computed tensor: it has a gradient only if the program retains it, and then it is not
// a parameter's gradient.
bool IsLeaf(c10::TensorImpl& tensor) {
  using Reference = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  return at::Tensor(Reference::reclaim_copy(&tensor)).is_leaf();
}

// Returns nothing if the tensor is not a single range: sparse, not initialised, on another device.
std::optional<Range> RangeOf(const c10::TensorImpl& tensor) {
  if (!tensor.is_cuda() || !tensor.has_storage() || tensor.layout() != c10::kStrided) return {};
  const void* begin = tensor.unsafe_storage().data();
  if (begin == nullptr) return {};
  const size_t item = tensor.itemsize();
  return Range{
      reinterpret_cast<uint64_t>(begin) + static_cast<size_t>(tensor.storage_offset()) * item,
      static_cast<size_t>(tensor.numel()) * item};
}

// Appends the label; false if Python has to do it.
bool Append(std::vector<uint64_t>& labels, c10::TensorImpl& parameter, uint64_t path) {
  const at::Tensor& gradient = parameter.grad();
  if (!gradient.defined() || !IsLeaf(parameter)) return true;
  const c10::TensorImpl& own = *gradient.unsafeGetTensorImpl();
  if (IsMadeInPython(parameter) || IsMadeInPython(own)) return false;
  const auto range = RangeOf(own);
  if (!range) return true;
  const Range serves = RangeOf(parameter).value_or(Range{});
  labels.insert(labels.end(), {static_cast<uint64_t>(gradient.get_device()), range->address,
                               range->bytes, serves.address, path});
  return true;
}

template <typename Object>
void Fetch(const Object* object) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; object != nullptr && at < sizeof(Object); at += kLine)
    __builtin_prefetch(reinterpret_cast<const char*>(object) + at);
}

// The rest of a step has evicted all of this from the processor's caches, and each object points to
// the next. Without the prefetch, each parameter would wait four times, one after the other.
void Prefetch(std::span<const uint64_t> parameters) {
  const auto of = [](uint64_t parameter) { return reinterpret_cast<c10::TensorImpl*>(parameter); };
  const auto gradient = [&](uint64_t parameter) {
    return of(parameter)->grad().unsafeGetTensorImpl();
  };
  for (const uint64_t parameter : parameters) Fetch(of(parameter));
  for (const uint64_t parameter : parameters) Fetch(of(parameter)->autograd_meta());
  for (const uint64_t parameter : parameters) Fetch(gradient(parameter));
  for (const uint64_t parameter : parameters) {
    const c10::TensorImpl* own = gradient(parameter);
    if (own->has_storage()) Fetch(own->unsafe_storage().unsafeGetStorageImpl());
  }
}

bool TryAppendLabel(std::vector<uint64_t>& labels, uint64_t parameter, uint64_t path) {
  try {
    return Append(labels, *reinterpret_cast<c10::TensorImpl*>(parameter), path);
  } catch (const std::exception&) {
    return false;  // such as for symbolic sizes
  }
}

}  // namespace
}  // namespace memtrace::shim

// `parameters` are the `_cdata` of `count` tensors, `paths` the numbers of their paths. Writes into
// `left`, which has room for `count`, the indices of those whose gradient Python has to label, and
// returns their number. REQUIRES: Python's lock is held, the tensors are alive.
extern "C" MEMTRACE_API size_t memtrace_torch_label_gradients(const uint64_t* parameters,
                                                              const uint64_t* paths, uint64_t* left,
                                                              size_t count) {
  namespace shim = memtrace::shim;
  size_t left_count = 0;
  std::vector<uint64_t> labels;
  labels.reserve(count * MEMTRACE_LABEL_WORDS);
  shim::Prefetch({parameters, count});
  for (size_t i = 0; i < count; ++i) {
    if (!shim::TryAppendLabel(labels, parameters[i], paths[i])) left[left_count++] = i;
  }
  memtrace_relabel_all(shim::kGradient, labels.data(), labels.size() / MEMTRACE_LABEL_WORDS);
  return left_count;
}
