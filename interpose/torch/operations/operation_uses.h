// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_OPERATIONS_OPERATION_USES_H_
#define MEMTRACE_INTERPOSE_TORCH_OPERATIONS_OPERATION_USES_H_

namespace memtrace::shim {

// If the core wants to know what memory is used (MEMTRACE_SPILL with MEMTRACE_CUPTI), observes all
// of torch's operations from now on, on all threads, and tells it the memory of their tensors. Must
// be called after memtrace_start. Later calls do nothing.
//
// Not seen: kernels that are launched without torch's dispatcher, such as Triton's, and replays of
// captured graphs. Of a compiled function the arguments are seen, in its forward.
void FollowUses();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_OPERATIONS_OPERATION_USES_H_
