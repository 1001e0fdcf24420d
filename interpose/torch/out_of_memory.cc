// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/out_of_memory.h"

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <string>

namespace memtrace::shim {

void ThrowOutOfMemory(const memtrace_out_of_memory& out_of_memory) {
  using c10::CachingAllocator::format_size;
  const uint64_t unused = out_of_memory.reserved - out_of_memory.live_allocated;
  std::string allowed;
  if (out_of_memory.limit < out_of_memory.device_total) {
    allowed = format_size(out_of_memory.limit) + " allowed; ";
  }
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ",
                   format_size(out_of_memory.requested), ". GPU ", out_of_memory.device,
                   " has a total capacity of ", format_size(out_of_memory.device_total),
                   " of which ", format_size(out_of_memory.device_free), " is free. ", allowed,
                   "Of the allocated memory ", format_size(out_of_memory.live_allocated),
                   " is allocated by PyTorch, and ", format_size(unused),
                   " is reserved by PyTorch but unallocated.\n", out_of_memory.explanation);
}

}  // namespace memtrace::shim
