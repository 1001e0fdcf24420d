// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_FRAMES_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_FRAMES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/source/event_source.h"
#include "tools/interchange/writers/pickle_writer.h"

namespace memtrace::interchange {

// The frame lists of a snapshot: each stack, and each frame, is one object however often it occurs.
class SnapshotFrames {
 public:
  SnapshotFrames(PickleWriter& pickle, const analysis::EventSource& source)
      : pickle_(pickle), source_(source) {}

  void Write(trace::StackId stack) {
    if (const auto known = stacks_.find(stack); known != stacks_.end()) {
      pickle_.Recall(known->second);
      return;
    }
    pickle_.BeginList();
    for (const trace::Frame& frame : source_.Stack(stack)) {
      pickle_.Item();
      Write(frame);
    }
    pickle_.EndList();
    stacks_.emplace(stack, pickle_.Remember());
  }

 private:
  void Write(const trace::Frame& frame) {
    const std::string key = frame.function + '\0' + frame.file + '\0' + std::to_string(frame.line);
    if (const auto known = frames_.find(key); known != frames_.end()) {
      pickle_.Recall(known->second);
      return;
    }
    pickle_.BeginDict();
    pickle_.Text("filename");
    pickle_.Text(frame.file);
    pickle_.Text("line");
    pickle_.Unsigned(frame.line);
    pickle_.Text("name");
    pickle_.Text(frame.function);
    pickle_.EndDict();
    frames_.emplace(key, pickle_.Remember());
  }

  PickleWriter& pickle_;
  const analysis::EventSource& source_;
  absl::flat_hash_map<trace::StackId, PickleWriter::MemoId> stacks_;
  absl::flat_hash_map<std::string, PickleWriter::MemoId> frames_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_FRAMES_H_
