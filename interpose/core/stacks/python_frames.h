// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAMES_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAMES_H_

#include <atomic>
#include <memory>
#include <span>

#include "interpose/core/stacks/python_frame_layout.h"
#include "profiler/recorder/stack_table.h"

namespace memtrace {

// The Python frames of the calling thread; no Python header is needed and one binary serves every
// Python from 3.10 on. In a process without Python there are never any frames.
//
// For a version with a known layout (python_frame_layout.h), frames are read from its own structs,
// without the interpreter's lock, once the first kChecks walks gave the same as CPython's exported
// functions; the lock is then taken for unseen frames only. Any other version, and one that ever
// differed, uses those functions and takes the lock for each walk.
//
// The caller must therefore hold no lock that a Python thread may wait for. Threads that Python
// does not know (autograd's) have no frames. Thread rule: any thread.
class PythonFrames : public recorder::FrameSymbolizer {
 public:
  PythonFrames();
  ~PythonFrames() override;

  // The innermost frame is first. The walk stops at kMostFrames, because deeper frames are the
  // launcher's and of no interest.
  static constexpr size_t kMostFrames = 128;

  // Calls `use` with the frames, which may symbolize them, and returns its result. Returns 0
  // without calling it if there are no frames.
  template <typename Use>
  uint32_t Walk(Use use) {
    recorder::RawFrame frames[kMostFrames];
    const size_t count = Collect(frames);
    return count == 0 ? 0 : use(std::span<const recorder::RawFrame>(frames, count));
  }

  // Takes the interpreter's lock. Keeps a reference to the code object forever, because the address
  // of a collected one could be reused by another. REQUIRES: called from within Walk, whose frames
  // keep the code alive until then.
  trace::Frame Symbolize(const recorder::RawFrame& frame) override;

  // True if walks no longer take the interpreter's lock.
  bool walks_without_lock() const { return checks_left_.load(std::memory_order_relaxed) == 0; }

 private:
  static constexpr int kChecks = 16;  // stacks of different kinds: modules, generators, callbacks
  static constexpr int kNeverAgain = -1;  // checks_left_ once a walk differed

  struct Functions;

  // Holds the interpreter's lock if this thread is one of Python's and the interpreter is alive.
  class Hold {
   public:
    explicit Hold(const PythonFrames& frames);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    bool held() const { return held_; }

   private:
    const PythonFrames& frames_;
    bool held_ = false;
    int state_ = 0;
  };

  size_t Collect(std::span<recorder::RawFrame> frames);
  size_t CollectLocked(std::span<recorder::RawFrame> frames) const;
  void Check(std::span<const recorder::RawFrame> expected);

  std::unique_ptr<Functions> python_;  // null without Python
  const PythonFrameLayout* layout_ = nullptr;
  std::atomic<int> checks_left_ = kNeverAgain;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAMES_H_
