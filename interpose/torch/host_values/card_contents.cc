// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/card_contents.h"

#include <ATen/ops/empty_strided.h>
#include <dlfcn.h>

#include <algorithm>

#include "interpose/torch/host_values/memory_runs.h"

namespace memtrace::shim {
namespace {

template <typename Function>
bool Find(void* driver, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(driver, name));
  return function != nullptr;
}

uint64_t AddressOf(const at::Tensor& tensor) {
  return reinterpret_cast<uint64_t>(tensor.const_data_ptr());
}

at::Tensor HostBufferLike(const at::Tensor& tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

}  // namespace

const CardContents* CardContents::OfProcess() {
  static const CardContents* contents = [] {
    auto* made = new CardContents;
    return made->FindAll() ? made : nullptr;
  }();
  return contents;
}

bool CardContents::FindAll() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  return driver != nullptr && Find(driver, known_at_, "memtrace_card_known_at") &&
         Find(driver, set_known_, "memtrace_card_set_known") &&
         Find(driver, hand_out_, "memtrace_card_hand_out") &&
         Find(driver, clear_, "memtrace_card_clear") && Find(driver, read_, "memtrace_card_read") &&
         Find(driver, write_, "memtrace_card_write") &&
         Find(driver, thread_, "memtrace_card_thread");
}

Known CardContents::KnownOf(const at::Tensor& tensor) const {
  const MemoryRuns runs(tensor);
  if (runs.count() == 0) return Known::kKnown;
  const uint64_t begin = AddressOf(tensor);
  const auto whole = static_cast<Known>(known_at_(begin, runs.span()));
  if (whole != Known::kUnknown || runs.count() == 1 || runs.too_many()) return whole;
  Known weakest = Known::kKnown;  // the gaps of a view may be unknown where its elements are not
  runs.ForEach([&](uint64_t offset) {
    weakest = std::min(weakest, static_cast<Known>(known_at_(begin + offset, runs.run_bytes())));
    return weakest != Known::kUnknown;
  });
  return weakest;
}

void CardContents::Set(const at::Tensor& tensor, Known known) const {
  const MemoryRuns runs(tensor);
  const uint64_t begin = AddressOf(tensor);
  if (runs.too_many()) {
    set_known_(begin, runs.span(), static_cast<int>(Known::kUnknown));
    return;
  }
  runs.ForEach([&](uint64_t offset) {
    set_known_(begin + offset, runs.run_bytes(), static_cast<int>(known));
    return true;
  });
}

// Also forgets the gaps between the elements: forgetting more than was written is safe, and one
// call.
void CardContents::Forget(const at::Tensor& tensor) const {
  const MemoryRuns runs(tensor);
  if (runs.count() > 0) set_known_(AddressOf(tensor), runs.span(), MEMTRACE_CARD_UNKNOWN);
}

void CardContents::Clear(const at::Tensor& tensor) const {
  const MemoryRuns runs(tensor);
  if (runs.count() == 0) return;
  if (clear_(AddressOf(tensor), runs.span()) == 0) Forget(tensor);
}

at::Tensor CardContents::Read(const at::Tensor& tensor) const {
  at::Tensor values = HostBufferLike(tensor);
  const uint64_t span = MemoryRuns(tensor).span();
  if (span == 0) return values;
  return read_(AddressOf(tensor), span, values.mutable_data_ptr()) != 0 ? values : at::Tensor();
}

bool CardContents::Write(const at::Tensor& tensor, const at::Tensor& values, Known known) const {
  const MemoryRuns runs(tensor);
  if (runs.too_many()) return false;
  at::Tensor laid_out = values;
  if (values.strides() != tensor.strides()) {
    laid_out = HostBufferLike(tensor);
    laid_out.copy_(values);
  }
  const uint64_t begin = AddressOf(tensor);
  const auto* from = static_cast<const char*>(laid_out.const_data_ptr());
  const bool written = runs.ForEach([&](uint64_t offset) {
    return write_(begin + offset, runs.run_bytes(), from + offset) != 0;
  });
  if (written) Set(tensor, known);
  return written;
}

}  // namespace memtrace::shim
