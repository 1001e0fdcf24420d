// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_
#define MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_

#include <atomic>
#include <cstddef>

#include "base/environment.h"

// Memory straight from the driver, for programs that switch caching off
// (PYTORCH_NO_CUDA_MEMORY_CACHING, torch.cuda.caching_allocator_enable(False)). As in torch, no
// statistics count it. Any thread.
namespace memtrace::shim {

// Read before every request.
inline std::atomic<bool> is_caching_off = env::Pointer(env::kTorchNoCaching) != nullptr;

// True if requests are served this way now.
inline bool IsCachingOff() { return is_caching_off.load(std::memory_order_relaxed); }
// Has no effect if the environment has switched caching off.
void SetCaching(bool on);

// Allocates on the current device; throws the driver's error.
void* AllocateUncached(std::size_t bytes);

// Returns false, with no effect, if `address` is not from AllocateUncached.
bool FreeUncached(void* address);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_UNCACHED_MEMORY_H_
