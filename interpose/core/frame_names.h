// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_FRAME_NAMES_H_
#define MEMTRACE_INTERPOSE_CORE_FRAME_NAMES_H_

#include <utility>

#include "interpose/core/native_frames.h"
#include "interpose/core/python_frames.h"
#include "interpose/core/recorded_paths.h"

namespace memtrace {

// Names frames of either kind: one recorder has stacks of both.
class FrameNames final : public recorder::FrameSymbolizer {
 public:
  PythonFrames& python() { return python_; }
  NativeFrames& native() { return native_; }

  trace::Frame Symbolize(const recorder::RawFrame& frame) override {
    const bool is_native = frame.instruction == NativeFrames::kInstruction;
    trace::Frame named = is_native ? native_.Symbolize(frame) : python_.Symbolize(frame);
    named.file = AsRecorded(std::move(named.file));
    return named;
  }

 private:
  PythonFrames python_;
  NativeFrames native_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_FRAME_NAMES_H_
