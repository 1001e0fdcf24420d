// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_12_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_12_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "interpose/torch/allocation_history.h"
#include "interpose/torch/minors/since_2_12/oom_rejections.h"

namespace memtrace::shim {

// Implements the additions of torch 2.12 to the allocator's interface.
template <typename Base>
class Since2_12 : public Base {
 public:
  void attachOomRejectionObserver(
      c10::cuda::CUDACachingAllocator::OomRejectionObserver observer) override {
    OomRejections::Get().Attach(std::move(observer));
  }

  std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* address) override {
    return AllocationHistory::Get().OfBlock(CardOf(address), reinterpret_cast<size_t>(address));
  }

 protected:
  // Throws if `address` is not CUDA memory.
  static c10::DeviceIndex CardOf(const void* address) {
    cudaPointerAttributes attributes{};
    C10_CUDA_CHECK(cudaPointerGetAttributes(&attributes, address));
    return static_cast<c10::DeviceIndex>(attributes.device);
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_12_H_
