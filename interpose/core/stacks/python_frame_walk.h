// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_WALK_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_WALK_H_

#include <cstddef>
#include <span>

#include "interpose/core/stacks/python_frame_layout.h"
#include "profiler/recorder/stack_table.h"

namespace memtrace {

// Walks the calling thread's frames, innermost first, by known offsets. Gives what
// PyThreadState_GetFrame and PyFrame_GetBack would, without making a frame object of each (60 ns a
// frame) and without the interpreter's lock. No lock is needed because only this thread pushes and
// pops its frames, it is here meanwhile, and each frame owns its code object. `thread_state` is the
// caller's own.
size_t WalkFrames(const PythonFrameLayout& layout, const void* thread_state,
                  std::span<recorder::RawFrame> frames);

// True if such a walk of at most `most` frames gives exactly `expected`. Reads through the kernel,
// so that a layout that is wrong for this interpreter is detected and does not crash; also false
// where /proc is missing.
bool WalkMatches(const PythonFrameLayout& layout, const void* thread_state,
                 std::span<const recorder::RawFrame> expected, size_t most);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_WALK_H_
