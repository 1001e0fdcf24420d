// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_13_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_13_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <cstddef>
#include <cstdint>

#include "interpose/torch/core_calls.h"
#include "interpose/torch/memory_listeners.h"
#include "interpose/torch/uncached_memory.h"

namespace memtrace::shim {

// Implements the additions of torch 2.13 to the allocator's interface. markCaptureBegin and
// markCaptureEnd stay torch's no-ops: our allocator asks the driver which streams are being
// captured.
template <typename Base>
class Since2_13 : public Base {
 public:
  // Allocates only in free memory, as torch does; nothing is mapped for it.
  c10::DataPtr allocateWithAddress(size_t bytes, void* address) override {
    constexpr size_t kAlignment = 512;
    TORCH_CHECK(!IsCachingOff(),
                "Exact-address allocation is only supported by the native CUDA caching allocator");
    TORCH_CHECK(reinterpret_cast<uintptr_t>(address) % kAlignment == 0,
                "mallocWithAddress: addr must be aligned to kMinBlockSize (", kAlignment,
                " bytes), got ", address);
    c10::DeviceIndex device = 0;
    C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
    void* placed = nullptr;
    if (bytes > 0) {
      placed = AllocateOrThrow(device, bytes, c10::cuda::getCurrentCUDAStream(device), address);
      TellAllocated(placed, bytes, device);
    }
    return {placed, placed, this->raw_deleter(), c10::Device(c10::kCUDA, device)};
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_13_H_
