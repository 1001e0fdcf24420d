// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_PROGRAM_LINES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_PROGRAM_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// A line of a program, distinguished by the lines that led to it.
struct ProgramLine {
  std::string name;      // "train.py:11"
  std::string function;  // with its file
  uint32_t number = 0;   // in the file
  bool is_library = false;
};

using LineId = uint32_t;

// The tree of the lines from which a program allocates. A stack counts up to the first call of a
// module, without frames of torch and of native code: what a model does inside is not part of it.
class ProgramLines {
 public:
  static constexpr LineId kRoot = 0;

  // The part of a stack that counts.
  struct Path {
    LineId leaf = kRoot;  // its innermost line; kRoot: none
    bool calls_module = false;
    bool may_loop_below = false;  // torch's code below the line may do the same for many tensors
  };

  // `source` must outlive this.
  explicit ProgramLines(const EventSource& source) : source_(source), nodes_(1) {}

  // Returns no path for threads that Python started, because allocations do not tell threads apart.
  Path PathOf(trace::StackId stack);

  size_t size() const { return nodes_.size(); }  // with the root
  LineId Parent(LineId id) const { return nodes_[id].parent; }
  uint32_t Depth(LineId id) const { return nodes_[id].depth; }
  const ProgramLine& line(LineId id) const { return lines_[nodes_[id].line]; }
  // True if a path below the line calls a module.
  bool calls_modules(LineId id) const { return nodes_[id].calls_modules; }
  // Returns the lines of the same function, called from the same line, `id` among them.
  std::vector<LineId> OfSameFunction(LineId id) const;

 private:
  struct Node {
    LineId parent = kRoot;
    uint32_t depth = 0;
    uint32_t line = 0;  // in lines_
    bool calls_modules = false;
  };

  Path Read(trace::StackId stack);
  uint32_t NumberOf(const trace::Frame& frame);
  std::optional<LineId> ChildOf(LineId parent, uint32_t line);

  const EventSource& source_;
  std::vector<Node> nodes_;
  std::vector<ProgramLine> lines_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;  // in lines_
  absl::flat_hash_map<uint64_t, LineId> children_;      // by parent and line
  absl::flat_hash_map<trace::StackId, Path> paths_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_PROGRAM_LINES_H_
