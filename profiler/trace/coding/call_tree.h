// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_CALL_TREE_H_
#define MEMTRACE_PROFILER_TRACE_CODING_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

using FrameId = uint32_t;  // 0 is no frame

struct FrameNames {
  StringId file = 0;
  StringId function = 0;
  uint32_t line = 0;
};

// The stacks of one file as a tree: a stack is its caller's stack plus one frame, so that stacks
// which differ only at the top share the rest.
//
//   main > train > step      3: {parent 2, step}   2: {parent 1, train}   1: {parent 0, main}
//   main > train > loss      4: {parent 2, loss}
//
// Bounded like StringTable: past kMaxStacks InternStack returns the parent (a stack that ends
// early), past kMaxFrames InternFrame returns 0. Thread rule: one thread at a time.
class CallTree {
 public:
  static constexpr size_t kMaxFrames = 1 << 20;
  static constexpr size_t kMaxStacks = 4 << 20;

  struct Interned {
    uint32_t id = 0;
    bool is_new = false;
  };
  Interned InternFrame(const FrameNames& frame);
  Interned InternStack(StackId parent, FrameId frame);

  // Stops interning new frames and stacks, as if the bounds were reached.
  void StopInterning() { interns_new_ = false; }

  // Adds a definition of the file. A stack's parent must be older than itself, so that there are no
  // cycles; DefineStack returns false if it is not.
  void DefineFrame(FrameId id, const FrameNames& frame);
  bool DefineStack(StackId id, StackId parent, FrameId frame);

  // Returns the frames, innermost first. Ends early if the definition of a caller was lost.
  std::vector<FrameNames> Frames(StackId stack) const;

  // True if the stack, its callers and all their frames are defined.
  bool Contains(StackId stack) const;

 private:
  struct Node {
    StackId parent = 0;
    FrameId frame = 0;
  };
  std::unordered_map<FrameId, FrameNames> frames_;
  std::unordered_map<StackId, Node> nodes_;
  std::map<std::tuple<StringId, StringId, uint32_t>, FrameId> frame_ids_;
  std::unordered_map<uint64_t, StackId> stack_ids_;  // by parent and frame
  bool interns_new_ = true;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_CALL_TREE_H_
