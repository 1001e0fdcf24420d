// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_STACK_TABLE_H_
#define MEMTRACE_PROFILER_RECORDER_STACK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/recorder/stack_hash.h"
#include "profiler/recorder/stack_index.h"
#include "profiler/trace/coding/call_tree.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// Turns raw frames into names. It knows the interpreter, which we do not.
class FrameSymbolizer {
 public:
  virtual ~FrameSymbolizer() = default;

  // Called without any of our locks, by the thread that interns the stack, for frames that were not
  // seen before (two threads may ask for the same one at once). From then on (code, instruction)
  // stands for this answer, so `frame.code` must stay alive: keep a reference to it, never to the
  // frame, whose locals are tensors.
  virtual trace::Frame Symbolize(const RawFrame& frame) = 0;

  // True if stacks are to be recorded without this frame. Called after Symbolize.
  virtual bool IsHidden(const RawFrame& /*frame*/) { return false; }
};

// Interns stacks. A known stack costs one hash of its frames and one look-up without a lock; a new
// one takes the trace's lock and defines the new part of it in the file.
//
// Hidden frames are left out, unless a stack has no others. Stacks are identified by 64 bits of
// hash alone: with a million stacks, the probability that two are confused is 3e-8. Bounded: past
// kMaxStacks new stacks are "no stack" (0). Thread rule: any thread.
class StackTable {
 public:
  static constexpr size_t kMaxStacks = 1 << 20;
  static constexpr size_t kMaxDepth = 512;  // further outer frames are left out

  StackTable(SharedTrace& trace, FrameSymbolizer& symbolizer);

  // Returns the number of a stack, given innermost frame first; 0 for an empty one. Never throws.
  trace::StackId Intern(std::span<const RawFrame> frames);

 private:
  using FrameKey = std::pair<const void*, int32_t>;
  struct NamedFrame {
    RawFrame raw;
    trace::Frame names;
    bool is_hidden = false;
  };
  struct KnownFrame {
    trace::FrameId id = 0;
    bool is_hidden = false;
  };

  trace::StackId InternNew(std::span<const RawFrame> frames, uint64_t hash);
  std::vector<NamedFrame> NameNewFrames(std::span<const RawFrame> frames);
  // Defines the stack with or without its hidden frames; returns 0 if no frame is left.
  trace::StackId Define(std::span<const RawFrame> frames, bool with_hidden)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);

  SharedTrace& trace_;
  FrameSymbolizer& symbolizer_;
  StackIndex index_;  // Insert under the trace's lock
  absl::flat_hash_map<FrameKey, KnownFrame> frames_ ABSL_GUARDED_BY(trace_.mutex);
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_STACK_TABLE_H_
