// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_
#define MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_

#include "profiler/recorder/recorder.h"

namespace memtrace {

// The calling thread's stack, interned, as the user asked for stacks: MEMTRACE_NATIVE_STACKS
// (docs/recording.md), and none at all with MEMTRACE_SOURCE=0 (memtrace run --no-source). 0: none.
// `caller` is a return address in whoever asked. Ask before taking any lock.

// Python's frames, for the allocator's memory; with native ones within if they are asked for.
trace::StackId CallStack(recorder::Recorder& recorder, const void* caller);

// Native frames from `caller` on, for memory that was taken from the driver itself.
trace::StackId NativeCallStack(recorder::Recorder& recorder, const void* caller);

// Returns the stack of an allocation of page-locked host memory: Python's frames if torch asked for
// it, which does so under no lock of its own (ATen/core/CachingHostAllocator.h, allocate), else as
// NativeCallStack.
trace::StackId HostCallStack(recorder::Recorder& recorder, const void* caller);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CALL_STACKS_H_
