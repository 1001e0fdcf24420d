// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/memory_listeners.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstdint>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {
namespace {

void TellProfiler(void* address, int64_t bytes, c10::DeviceIndex device) {
  memtrace_statistics now{};
  now.size = sizeof(now);
  if (memtrace_get_statistics(device, &now) != MEMTRACE_OK) return;
  c10::reportMemoryUsageToProfiler(
      address, bytes, static_cast<size_t>(now.by_kind[MEMTRACE_ALLOCATED_BYTES][0].current),
      static_cast<size_t>(now.by_kind[MEMTRACE_RESERVED_BYTES][0].current),
      c10::Device(c10::kCUDA, device));
}

}  // namespace

void TellSanitizerAllocated(void* address) {
  (*c10::impl::GPUTrace::get_trace())
      ->trace_gpu_memory_allocation(c10::kCUDA, reinterpret_cast<uintptr_t>(address));
}

void TellSanitizerFreed(void* address) {
  (*c10::impl::GPUTrace::get_trace())
      ->trace_gpu_memory_deallocation(c10::kCUDA, reinterpret_cast<uintptr_t>(address));
}

void TellProfilerAllocated(void* address, size_t bytes, c10::DeviceIndex device) {
  TellProfiler(address, static_cast<int64_t>(bytes), device);
}

void TellProfilerFreed(void* address) {
  uint64_t bytes = 0;
  void* base = nullptr;
  c10::DeviceIndex device = 0;
  C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
  if (memtrace_base_allocation(address, &base, &bytes) != MEMTRACE_OK) return;
  TellProfiler(address, -static_cast<int64_t>(bytes), device);
}

}  // namespace memtrace::shim
