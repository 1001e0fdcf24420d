// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/out_of_memory.h"

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string>

#include "interpose/torch/process_memory.h"
#include "interpose/torch/torch_views.h"

namespace memtrace::shim {

void ThrowOutOfMemory(const memtrace_out_of_memory& out_of_memory) {
  using c10::CachingAllocator::format_size;
  const auto device = static_cast<c10::DeviceIndex>(out_of_memory.device);
  // As torch does, what lies free in private pools counts as allocated: only they can use it.
  const uint64_t in_pools =
      std::min(FreeInPrivatePools(device), out_of_memory.reserved - out_of_memory.live_allocated);
  const uint64_t allocated = out_of_memory.live_allocated + in_pools;
  std::string pools;
  if (in_pools > 0) {
    pools = "with " + format_size(in_pools) + " allocated in private pools (e.g., CUDA Graphs), ";
  }
  std::string allowed;
  if (out_of_memory.limit < out_of_memory.device_total) {
    allowed = format_size(out_of_memory.limit) + " allowed; ";
  }
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ",
                   format_size(out_of_memory.requested), ". GPU ", out_of_memory.device,
                   " has a total capacity of ", format_size(out_of_memory.device_total),
                   " of which ", format_size(out_of_memory.device_free), " is free. ",
                   DescribeProcesses(device), allowed, "Of the allocated memory ",
                   format_size(allocated), " is allocated by PyTorch, ", pools, "and ",
                   format_size(out_of_memory.reserved - allocated),
                   " is reserved by PyTorch but unallocated.\n", out_of_memory.explanation);
}

}  // namespace memtrace::shim
