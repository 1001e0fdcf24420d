// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_
#define MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_

namespace memtrace::shim {

// Passes every event of torch's own allocator on to libmemtrace, through its trace tracker and its
// out-of-memory observer. REQUIRES: CUDA is initialised, because torch attaches a tracker to the
// cards that it knows then. Existing memory is passed on first, as if it were allocated now. Cannot
// be undone. Returns false if libmemtrace has not started; throws torch's error if it cannot be
// observed.
bool ObserveNativeAllocator(int device_count);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_
