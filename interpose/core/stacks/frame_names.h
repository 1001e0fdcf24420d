// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_FRAME_NAMES_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_FRAME_NAMES_H_

#include <utility>

#include "interpose/core/recorded_text/recorded_paths.h"
#include "interpose/core/stacks/native_frames.h"
#include "interpose/core/stacks/own_files.h"
#include "interpose/core/stacks/python_frames.h"

namespace memtrace {

// Names frames of both kinds, because one recorder has stacks of both.
class FrameNames final : public recorder::FrameSymbolizer {
 public:
  PythonFrames& python() { return python_; }
  NativeFrames& native() { return native_; }

  trace::Frame Symbolize(const recorder::RawFrame& frame) override {
    trace::Frame named = IsNative(frame) ? native_.Symbolize(frame) : python_.Symbolize(frame);
    named.file = AsRecorded(std::move(named.file));
    return named;
  }

  // Hides our Python hooks, which are no part of the program.
  bool IsHidden(const recorder::RawFrame& frame) override {
    return !IsNative(frame) && IsOwnFile(python_.Symbolize(frame).file);
  }

 private:
  static bool IsNative(const recorder::RawFrame& frame) {
    return frame.instruction == NativeFrames::kInstruction;
  }

  PythonFrames python_;
  NativeFrames native_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_FRAME_NAMES_H_
