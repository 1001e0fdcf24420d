// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// PythonFrames for any Python that can load this by ctypes: test_python_frames.py.
#include <cstdio>
#include <string>

#include "interpose/core/stacks/python_frames.h"

namespace {

memtrace::PythonFrames& Frames() {
  static auto* frames = new memtrace::PythonFrames;
  return *frames;
}

}  // namespace

extern "C" {

// Writes the caller's stack, innermost first, a line "function:line" each. Returns the number of
// frames.
[[gnu::visibility("default")]] uint32_t probe_stack(char* text, size_t size) {
  return Frames().Walk([&](std::span<const memtrace::recorder::RawFrame> frames) {
    std::string lines;
    for (const auto& raw : frames) {
      const memtrace::trace::Frame frame = Frames().Symbolize(raw);
      lines += frame.function + ":" + std::to_string(frame.line) + "\n";
    }
    std::snprintf(text, size, "%s", lines.c_str());
    return static_cast<uint32_t>(frames.size());
  });
}

[[gnu::visibility("default")]] int probe_walks_without_lock() {
  return Frames().walks_without_lock() ? 1 : 0;
}

}  // extern "C"
