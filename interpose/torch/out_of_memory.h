// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_OUT_OF_MEMORY_H_
#define MEMTRACE_INTERPOSE_TORCH_OUT_OF_MEMORY_H_

#include "interpose/core/memtrace.h"

namespace memtrace::shim {

// Throws torch.OutOfMemoryError. The text begins like torch's own, word for word ("CUDA out of
// memory. Tried to allocate ..."), because programs match on it (accelerate's batch-size finder);
// memtrace's verdict follows. It omits torch's advice, which is about its own allocator's settings.
[[noreturn]] void ThrowOutOfMemory(const memtrace_out_of_memory& out_of_memory);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_OUT_OF_MEMORY_H_
