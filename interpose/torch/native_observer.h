// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_
#define MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_

namespace memtrace::shim {

// Passes every event of torch's own allocator on to libmemtrace, by its trace tracker and its
// out-of-memory observer. REQUIRES: CUDA is initialised (torch attaches a tracker to the cards it
// knows by then). What it holds by then is passed on first, as if it came now. Cannot be undone.
// False if libmemtrace has not started; throws what torch throws if it cannot be observed.
bool ObserveNativeAllocator(int device_count);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_NATIVE_OBSERVER_H_
