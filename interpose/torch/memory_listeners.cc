// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/memory_listeners.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstdint>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {
namespace {

C10_NOINLINE void TellProfiler(void* address, int64_t bytes, c10::DeviceIndex device) {
  memtrace_statistics now{};
  now.size = sizeof(now);
  if (memtrace_get_statistics(device, &now) != MEMTRACE_OK) return;
  c10::reportMemoryUsageToProfiler(
      address, bytes, static_cast<size_t>(now.by_kind[MEMTRACE_ALLOCATED_BYTES][0].current),
      static_cast<size_t>(now.by_kind[MEMTRACE_RESERVED_BYTES][0].current),
      c10::Device(c10::kCUDA, device));
}

C10_NOINLINE void TellProfilerOfFree(void* address) {
  uint64_t bytes = 0;
  void* base = nullptr;
  c10::DeviceIndex device = 0;
  C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
  if (memtrace_base_allocation(address, &base, &bytes) != MEMTRACE_OK) return;
  TellProfiler(address, -static_cast<int64_t>(bytes), device);
}

}  // namespace

void TellAllocated(void* address, size_t bytes, c10::DeviceIndex device) {
  const c10::impl::PyInterpreter* trace = c10::impl::GPUTrace::get_trace();
  if (C10_UNLIKELY(trace != nullptr)) {
    (*trace)->trace_gpu_memory_allocation(c10::kCUDA, reinterpret_cast<uintptr_t>(address));
  }
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) {
    TellProfiler(address, static_cast<int64_t>(bytes), device);
  }
}

void TellFreed(void* address) {
  const c10::impl::PyInterpreter* trace = c10::impl::GPUTrace::get_trace();
  if (C10_UNLIKELY(trace != nullptr)) {
    (*trace)->trace_gpu_memory_deallocation(c10::kCUDA, reinterpret_cast<uintptr_t>(address));
  }
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) TellProfilerOfFree(address);
}

}  // namespace memtrace::shim
