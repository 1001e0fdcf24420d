// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_
#define MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_

#include <c10/core/Device.h>

#include <cstddef>

// Tools of torch that listen to the allocator: the profiler, and the sanitizer's GPU trace. Costs
// two loads while none of them does. Any thread.
namespace memtrace::shim {

// After the block of `bytes` was handed out.
void TellAllocated(void* address, size_t bytes, c10::DeviceIndex device);

// Before the block is freed. Not null.
void TellFreed(void* address);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MEMORY_LISTENERS_H_
