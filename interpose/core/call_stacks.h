// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_
#define MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_

#include "profiler/recorder/recorder.h"

namespace memtrace {

// Each function returns the calling thread's stack, interned; 0 if there is none. The user selects
// stacks with MEMTRACE_NATIVE_STACKS (docs/design/recording.md); MEMTRACE_SOURCE=0 (memtrace run
// --no-source) turns all of them off. `caller` is a return address in the requester. Call these
// before taking any lock.

// Returns Python's frames, for the allocator's memory, with the native frames inside them if those
// are requested.
trace::StackId CallStack(recorder::Recorder& recorder, const void* caller);

// Returns native frames from `caller` on, for memory that was taken from the driver itself.
trace::StackId NativeCallStack(recorder::Recorder& recorder, const void* caller);

// Returns the stack of an allocation of page-locked host memory: Python's frames if torch requested
// it, because torch holds no lock of its own then (ATen/core/CachingHostAllocator.h, allocate),
// else the same as NativeCallStack.
trace::StackId HostCallStack(recorder::Recorder& recorder, const void* caller);

// Returns true if torch's own allocator called the driver or the runtime: its library has nothing
// else that requests memory of a card (c10/cuda).
bool IsCalledByTorchAllocator(const void* caller);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_
