// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_ALLOCATOR_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {

// What a torch minor's allocator interface has beyond that of 2.11: nothing, for 2.11.
using VersionedAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

// What its statistics have beyond that: nothing.
inline void AddVersionedStatistics(c10::CachingDeviceAllocator::DeviceStats& /*stats*/,
                                   c10::DeviceIndex /*device*/) {}

// From how many bytes of the card on a request is rejected at once; 0: never.
inline uint64_t RejectAbove(c10::DeviceIndex /*device*/) { return 0; }
inline void NoteRejection(const memtrace_out_of_memory& /*rejection*/) {}
inline void ForgetRejections(c10::DeviceIndex /*device*/) {}

// With which torch registers its own allocator; the same is needed to replace it.
constexpr uint8_t kRegistrationPriority = 0;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_ALLOCATOR_H_
