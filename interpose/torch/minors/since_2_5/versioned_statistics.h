// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_STATISTICS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_STATISTICS_H_

#include <c10/core/CachingDeviceAllocator.h>

namespace memtrace::shim {

// Adds nothing: torch's statistics before 2.12 are those of 2.11.
inline void AddVersionedStatistics(c10::CachingDeviceAllocator::DeviceStats& /*stats*/,
                                   c10::DeviceIndex /*device*/) {}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_STATISTICS_H_
