// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TRACE_TRACKERS_H_
#define MEMTRACE_INTERPOSE_TORCH_TRACE_TRACKERS_H_

#include <c10/cuda/CUDACachingAllocator.h>

namespace memtrace::shim {

// From now on `tracker` is called for every block and range of every card, under the card's lock,
// in torch's words (NCCL's process group registers memory this way). It must not call the
// allocator, nor wait for Python's interpreter. Entries bear no stack and no pool yet. Any thread.
void AttachTraceTracker(c10::cuda::CUDACachingAllocator::AllocatorTraceTracker tracker);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TRACE_TRACKERS_H_
