// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_table.h"

#include <algorithm>

namespace memtrace::recorder {

StackTable::StackTable(SharedTrace& trace, FrameSymbolizer& symbolizer)
    : trace_(trace), symbolizer_(symbolizer) {}

trace::StackId StackTable::Intern(std::span<const RawFrame> frames) {
  frames = frames.first(std::min(frames.size(), kMaxDepth));
  if (frames.empty()) return 0;
  trace::StackId stack = 0;
  trace_.Guarded([&] {
    const uint64_t hash = HashOfStack(frames);
    const trace::StackId known = index_.Find(hash);
    stack = known != 0 ? known : InternNew(frames, hash);
  });
  return stack;
}

trace::StackId StackTable::InternNew(std::span<const RawFrame> frames, uint64_t hash) {
  const std::vector<NamedFrame> named = NameNewFrames(frames);
  SpinMutexLock lock(trace_.mutex);
  if (index_.size() >= kMaxStacks) return 0;
  trace::DefinitionWriter& definitions = trace_.writer->definitions();
  for (const NamedFrame& frame : named) {
    frames_.try_emplace({frame.raw.code, frame.raw.instruction},
                        KnownFrame{definitions.DefineFrame(frame.names), frame.is_hidden});
  }
  trace::StackId stack = Define(frames, false);
  if (stack == 0) stack = Define(frames, true);
  index_.Insert(hash, stack);
  return stack;
}

trace::StackId StackTable::Define(std::span<const RawFrame> frames, bool with_hidden) {
  trace::StackId stack = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const auto frame = frames_.find(FrameKey{frames[i].code, frames[i].instruction});
    if (!frame->second.is_hidden || with_hidden) {
      stack = trace_.writer->definitions().DefineStack(stack, frame->second.id);
    }
  }
  return stack;
}

// Calls the symbolizer without a lock: it may take the interpreter's, whose holder may wait for
// ours.
std::vector<StackTable::NamedFrame> StackTable::NameNewFrames(std::span<const RawFrame> frames) {
  std::vector<NamedFrame> unseen;
  {
    SpinMutexLock lock(trace_.mutex);
    for (const RawFrame& frame : frames) {
      if (!frames_.contains(FrameKey{frame.code, frame.instruction})) {
        unseen.push_back({.raw = frame, .names = {}, .is_hidden = false});
      }
    }
  }
  for (NamedFrame& frame : unseen) {
    frame.names = symbolizer_.Symbolize(frame.raw);
    frame.is_hidden = symbolizer_.IsHidden(frame.raw);
  }
  return unseen;
}

}  // namespace memtrace::recorder
