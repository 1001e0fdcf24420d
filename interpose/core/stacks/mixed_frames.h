// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_MIXED_FRAMES_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_MIXED_FRAMES_H_

#include <array>
#include <cstddef>

#include "interpose/core/stacks/code_range.h"
#include "interpose/core/stacks/native_frames.h"
#include "interpose/core/stacks/python_frames.h"

namespace memtrace {

// The native frames of the innermost call from Python, for a stack whose outer part is Python's:
//
//   at::detail::empty_cuda  <- at::native::...  <- torch's binding  |  step  train.py:31  <- main
//   ... native, without our own frames                                  |  Python, as without them
//
// The interpreter's own frames are left out, because Python's frames show the same. A thread that
// Python does not know keeps all of its native frames. Thread rule: any thread.
class MixedFrames {
 public:
  // `caller` is a return address in the library of ours that requests the frames.
  explicit MixedFrames(const void* caller);

  // Writes the innermost frame first; returns the number of frames.
  size_t Walk(std::array<recorder::RawFrame, NativeFrames::kMostFrames>& frames) const;

 private:
  bool IsOurs(const void* code) const { return core_.Has(code) || shim_.Has(code); }

  const CodeRange core_;
  const CodeRange shim_;
  const CodeRange interpreter_;  // empty without Python
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_MIXED_FRAMES_H_
