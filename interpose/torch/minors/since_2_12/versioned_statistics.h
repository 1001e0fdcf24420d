// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_STATISTICS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_STATISTICS_H_

#include <c10/core/CachingDeviceAllocator.h>

#include "interpose/torch/minors/since_2_12/oom_rejections.h"

namespace memtrace::shim {

// Adds torch's statistics that 2.11 does not have.
inline void AddVersionedStatistics(c10::CachingDeviceAllocator::DeviceStats& stats,
                                   c10::DeviceIndex device) {
  stats.num_oom_rejections = OomRejections::Get().Count(device);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_STATISTICS_H_
