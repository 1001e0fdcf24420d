// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/python_frame_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace memtrace {
namespace {

// Values of enum _frameowner in pycore_frame.h.
constexpr char kOwnedByGenerator = 1;
constexpr char kOwnedByCStack = 3;  // since 3.12: the interpreter's own entry, no Python frame

constexpr int kCodeUnit = 2;  // bytes

// Reads this process's memory directly.
class Directly {
 public:
  template <typename T>
  T At(const char* address) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return value;
  }
  static constexpr bool failed() { return false; }
};

// Reads memory through the kernel, which rejects invalid addresses.
class ThroughKernel {
 public:
  ThroughKernel() : file_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)), failed_(file_ < 0) {}
  ~ThroughKernel() {
    if (file_ >= 0) close(file_);
  }
  ThroughKernel(const ThroughKernel&) = delete;
  ThroughKernel& operator=(const ThroughKernel&) = delete;

  // Returns a value-initialized T once any read has failed.
  template <typename T>
  T At(const char* address) {
    T value{};
    if (!failed_)
      failed_ = pread(file_, &value, sizeof(T),
                      static_cast<off_t>(reinterpret_cast<uintptr_t>(address))) != sizeof(T);
    return failed_ ? T{} : value;
  }
  bool failed() const { return failed_; }

 private:
  const int file_;
  bool failed_;
};

template <typename Memory>
const char* InnermostFrame(const PythonFrameLayout& layout, const void* thread_state,
                           Memory& memory) {
  const auto* state = static_cast<const char*>(thread_state);
  const auto* frame = memory.template At<const char*>(state + layout.thread_frame);
  if (!layout.has_cframe || frame == nullptr) return frame;
  return memory.template At<const char*>(frame + layout.cframe_frame);
}

template <typename Memory>
size_t Walk(const PythonFrameLayout& layout, const void* thread_state, Memory& memory,
            std::span<recorder::RawFrame> frames) {
  size_t count = 0;
  const char* frame = InnermostFrame(layout, thread_state, memory);
  for (; frame != nullptr && count < frames.size() && !memory.failed();
       frame = memory.template At<const char*>(frame + layout.previous)) {
    const auto owner = memory.template At<char>(frame + layout.owner);
    if (owner == kOwnedByCStack) continue;
    const auto* code = memory.template At<const char*>(frame + layout.code);
    const auto* instruction = memory.template At<const char*>(frame + layout.instruction);
    // The same as PyFrame_GetLasti: bytes, -1 before the first instruction.
    const auto offset =
        std::max(-1, static_cast<int32_t>(instruction - (code + layout.first_instruction)));
    // The same test as _PyFrame_IsIncomplete: the frame is being made and must not be seen yet.
    if (owner != kOwnedByGenerator &&
        offset < kCodeUnit * memory.template At<int32_t>(code + layout.first_traceable)) {
      continue;
    }
    frames[count++] = {.code = code, .instruction = offset};
  }
  return count;
}

}  // namespace

size_t WalkFrames(const PythonFrameLayout& layout, const void* thread_state,
                  std::span<recorder::RawFrame> frames) {
  Directly memory;
  return Walk(layout, thread_state, memory, frames);
}

bool WalkMatches(const PythonFrameLayout& layout, const void* thread_state,
                 std::span<const recorder::RawFrame> expected, size_t most) {
  ThroughKernel memory;
  std::vector<recorder::RawFrame> found(most);
  const size_t count = Walk(layout, thread_state, memory, found);
  found.resize(count);
  return !memory.failed() &&
         std::equal(found.begin(), found.end(), expected.begin(), expected.end());
}

}  // namespace memtrace
