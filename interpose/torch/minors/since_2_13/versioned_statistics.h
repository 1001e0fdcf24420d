// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_13_VERSIONED_STATISTICS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_13_VERSIONED_STATISTICS_H_

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>

#include "interpose/core/memtrace.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/minors/since_2_12/oom_rejections.h"

namespace memtrace::shim {

// Adds torch's statistics that 2.11 does not have.
inline void AddVersionedStatistics(c10::CachingDeviceAllocator::DeviceStats& stats,
                                   c10::DeviceIndex device) {
  const auto visit = [](void* user, const memtrace_pool* pool, const memtrace_statistic* reserved) {
    auto& by_pool = static_cast<c10::CachingDeviceAllocator::DeviceStats*>(user)
                        ->reserved_bytes_by_private_pools[{pool->first, pool->second}];
    for (size_t i = 0; i < by_pool.size(); ++i) {
      by_pool[i].current = reserved[i].current;
      by_pool[i].peak = reserved[i].peak;
      by_pool[i].allocated = reserved[i].allocated;
      by_pool[i].freed = reserved[i].freed;
    }
  };
  ThrowUnlessOk(memtrace_visit_pools(device, visit, &stats));
  stats.num_oom_rejections = OomRejections::Get().Count(device);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_13_VERSIONED_STATISTICS_H_
