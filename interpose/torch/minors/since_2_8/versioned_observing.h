// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_OBSERVING_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_OBSERVING_H_

#include <c10/cuda/CUDACachingAllocator.h>

namespace memtrace::shim {

// Has torch gather a context before each allocation. One entry of ours, the latest, stays in a
// history that the program begins later without clearing it.
inline void GatherContexts(c10::cuda::CUDACachingAllocator::CreateContextFn create) {
  c10::cuda::CUDACachingAllocator::recordHistory(
      true, create, 1, c10::cuda::CUDACachingAllocator::RecordContext::ALLOC,
      /*clearHistory=*/false);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_OBSERVING_H_
