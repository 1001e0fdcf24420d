// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the Python package calls (by ctypes): puts our allocator in torch's place, or observes
// torch's own.
#include <c10/cuda/CUDACachingAllocator.h>

#include <exception>

#include "interpose/core/memtrace.h"
#include "interpose/torch/cuda_allocator.h"
#include "interpose/torch/native_observer.h"

#define MEMTRACE_SHIM extern "C" MEMTRACE_API

// 0 done; 1 too late, CUDA is in use; 2 torch has no CUDA allocator.
MEMTRACE_SHIM int memtrace_torch_install() {
  namespace native = c10::cuda::CUDACachingAllocator;
  native::CUDAAllocator* current = native::allocator.load();
  if (current == nullptr) return 2;
  if (current->initialized()) return 1;
  auto& ours = memtrace::shim::CudaAllocator::Get();
  native::allocator.store(&ours);
  // torch.accelerator.memory_* asks here.
  c10::SetAllocator(c10::kCUDA, &ours, memtrace::shim::kRegistrationPriority);
  return 0;
}

// 0 done; 1 torch's allocator cannot be observed (cudaMallocAsync's refuses). REQUIRES: CUDA is
// initialised.
MEMTRACE_SHIM int memtrace_torch_observe(int device_count) {
  try {
    return memtrace::shim::ObserveNativeAllocator(device_count) ? 0 : 1;
  } catch (const std::exception&) {
    return 1;  // the caller is Python by ctypes: an exception would end the process
  }
}
