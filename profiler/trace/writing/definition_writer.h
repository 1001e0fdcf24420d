// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_DEFINITION_WRITER_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_DEFINITION_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "profiler/trace/coding/call_tree.h"
#include "profiler/trace/coding/string_table.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/writing/record_blocks.h"

namespace memtrace::trace {

// Gives strings, frames and stacks the ids by which events refer to them, and defines each in the
// file when it is first seen. Each new one costs a heap allocation.
//
// Errors: none. If there is no more room, new ones get the ids that StringTable and CallTree define
// for this case. Thread rule: one thread at a time.
class DefinitionWriter {
 public:
  // `blocks` must outlive this.
  explicit DefinitionWriter(RecordBlocks& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND) : blocks_(blocks) {}

  // Returns the id of `text`, which is cut at 16 KiB.
  StringId String(std::string_view text);
  FrameId DefineFrame(const Frame& frame);
  StackId DefineStack(StackId parent, FrameId frame);  // `parent` is the caller's stack

  // Returns the string; "(lost)" if the id is unknown.
  std::string_view Text(StringId id) const { return strings_.Text(id); }
  // Returns the frames of a stack, innermost first; empty if the id is unknown.
  std::vector<Frame> Stack(StackId id) const;

 private:
  uint8_t* Room(size_t bytes);

  RecordBlocks& blocks_;
  StringTable strings_;
  CallTree stacks_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_DEFINITION_WRITER_H_
