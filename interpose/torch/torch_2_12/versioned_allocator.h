// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_2_12_VERSIONED_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_2_12_VERSIONED_ALLOCATOR_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>

#include "interpose/torch/not_there_yet.h"

namespace memtrace::shim {

// Since 2.12: one more pure virtual. Nothing of torch's Python reaches it.
class VersionedAllocator : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  void attachOomRejectionObserver(
      c10::cuda::CUDACachingAllocator::OomRejectionObserver /*observer*/) override {
    NotThereYet("attachOomRejectionObserver");
  }
};

// With which torch registers its own allocator; the same is needed to replace it (seen in 2.15: a
// lower one leaves torch.accelerator.memory_* with torch's).
constexpr uint8_t kRegistrationPriority = 1;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_2_12_VERSIONED_ALLOCATOR_H_
