// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_NATIVE_FRAMES_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_NATIVE_FRAMES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "interpose/core/stacks/code_range.h"
#include "profiler/recorder/stack_table.h"

namespace memtrace {

// The native frames of the calling thread, from the caller of the driver outwards. A frame is a
// return address until it is named, once: file and offset ("/opt/libfoo.so+0x1a2b"), and the
// exported symbol that it lies in, if any. Other functions' names, files and lines are resolved
// later from debug information, for which the trace has the offset and the build-id.
//
// Walking takes no lock and allocates nothing; naming calls the loader, which takes one. A module
// loaded where another was unloaded is mistaken for it. Thread rule: any thread.
class NativeFrames : public recorder::FrameSymbolizer {
 public:
  static constexpr size_t kMostFrames = 64;
  // Value of RawFrame::instruction that marks a native frame; no offset in a Python function equals
  // it.
  static constexpr int32_t kInstruction = std::numeric_limits<int32_t>::min();

  // Writes the frames, innermost first, without those inside `caller`, a return address; all of
  // them if it is not found. Ends before the first frame in `outside`. Returns the number of
  // frames.
  static size_t Walk(const void* caller, std::span<recorder::RawFrame> frames,
                     CodeRange outside = {});

  trace::Frame Symbolize(const recorder::RawFrame& frame) override;

  // Returns the modules of frames named since the last call: file and build-id in hexadecimal, ""
  // if it has none.
  std::set<std::pair<std::string, std::string>> TakeNewModules();
  bool has_new_modules() const { return has_new_modules_.load(std::memory_order_acquire); }

 private:
  void NoteModule(const std::string& file, const void* base);

  std::atomic<bool> has_new_modules_ = false;
  Mutex mutex_;
  std::set<std::string> known_modules_;                        // guarded by mutex_
  std::set<std::pair<std::string, std::string>> new_modules_;  // likewise
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_NATIVE_FRAMES_H_
