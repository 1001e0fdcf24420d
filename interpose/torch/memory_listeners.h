// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_
#define MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/macros/Macros.h>

#include <cstddef>

// Tells torch's tools that listen to the allocator: the profiler, and the sanitizer's GPU trace.
// Costs two loads if none of them listens. Any thread.
namespace memtrace::shim {

// For the two functions below, which call these only if there is a listener.
void TellSanitizerAllocated(void* address);
void TellSanitizerFreed(void* address);
void TellProfilerAllocated(void* address, size_t bytes, c10::DeviceIndex device);
void TellProfilerFreed(void* address);

// Call this after the block of `bytes` was handed out.
inline void TellAllocated(void* address, size_t bytes, c10::DeviceIndex device) {
  if (C10_UNLIKELY(c10::impl::GPUTrace::get_trace() != nullptr)) TellSanitizerAllocated(address);
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) TellProfilerAllocated(address, bytes, device);
}

// Call this before the block is freed. `address` is not null.
inline void TellFreed(void* address) {
  if (C10_UNLIKELY(c10::impl::GPUTrace::get_trace() != nullptr)) TellSanitizerFreed(address);
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) TellProfilerFreed(address);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_
