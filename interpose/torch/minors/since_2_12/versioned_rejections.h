// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_REJECTIONS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_REJECTIONS_H_

#include <c10/cuda/CUDAAllocatorConfig.h>

#include <cstdint>

#include "interpose/core/memtrace.h"
#include "interpose/torch/minors/since_2_12/oom_rejections.h"

namespace memtrace::shim {

// Returns the most bytes of the card that a request may grow to before it is rejected at once; 0:
// no limit.
inline uint64_t RejectAbove(c10::DeviceIndex device) {
  using c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;
  if (C10_LIKELY(!CUDAAllocatorConfig::throw_on_cudamalloc_oom())) return 0;
  return OomRejections::Get().Limit(device, CUDAAllocatorConfig::per_process_memory_fraction());
}
inline void NoteRejection(const memtrace_out_of_memory& rejection) {
  OomRejections::Get().Note(rejection);
}
inline void ForgetRejections(c10::DeviceIndex device) { OomRejections::Get().Forget(device); }

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_VERSIONED_REJECTIONS_H_
