// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ALLOCATOR_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include "interpose/torch/minors/adaptors/until_2_10.h"
#include "interpose/torch/minors/adaptors/until_2_5.h"
#include "interpose/torch/minors/adaptors/until_2_7.h"
#include "interpose/torch/minors/adaptors/until_2_9.h"

namespace memtrace::shim {

// The allocator's interface of torch 2.5, with the signatures of 2.11 for overriding methods.
using VersionedAllocator =
    Until2_10<Until2_9<Until2_7<Until2_5<c10::cuda::CUDACachingAllocator::CUDAAllocator>>>>;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ALLOCATOR_H_
