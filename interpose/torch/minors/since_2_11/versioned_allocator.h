// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ALLOCATOR_H_

#include <c10/cuda/CUDACachingAllocator.h>

namespace memtrace::shim {

// The allocator's interface of torch 2.11: the one that CudaAllocator overrides.
using VersionedAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

using c10::cuda::CUDACachingAllocator::StreamSegmentSize;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ALLOCATOR_H_
