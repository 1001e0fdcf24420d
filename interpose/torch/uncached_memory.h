// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_
#define MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_

#include <atomic>
#include <cstddef>

#include "base/environment.h"

// Memory straight from the driver, for programs that switch caching off
// (PYTORCH_NO_CUDA_MEMORY_CACHING, torch.cuda.caching_allocator_enable(False)). As with torch, no
// statistics count it. Any thread.
namespace memtrace::shim {

// Asked before every request.
inline std::atomic<bool> is_caching_off = env::Pointer(env::kTorchNoCaching) != nullptr;

// Whether requests are to be served this way now.
inline bool IsCachingOff() { return is_caching_off.load(std::memory_order_relaxed); }
// Without effect if the environment has switched it off.
void SetCaching(bool on);

// On the current device; throws the driver's error.
void* AllocateUncached(std::size_t bytes);

// False, and nothing has happened, if `address` is not from AllocateUncached.
bool FreeUncached(void* address);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_
