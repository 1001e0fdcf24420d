// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_STACK_TREE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_STACK_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::report {

// Stacks as paths in one tree from the outermost frame. Node 0 is the root, which is not a frame.
class StackTree {
 public:
  using Node = uint32_t;

  struct Name {
    std::string text;  // "train.py:18 step"; printable
    bool is_user = false;
  };

  // Holds at most `most` nodes; further stacks map to the root. `source` must outlive this.
  StackTree(const analysis::EventSource& source, size_t most) : source_(source), most_(most) {}

  // Returns the node of the stack's innermost frame; the root for a stack that was not taken.
  Node Of(trace::StackId stack);

  const std::vector<Node>& parents() const { return parents_; }
  const std::vector<uint32_t>& frames() const { return frames_; }  // indices of names()
  const std::vector<Name>& names() const { return names_; }

 private:
  uint32_t NameOf(const trace::Frame& frame);
  Node Below(Node parent, uint32_t name);

  const analysis::EventSource& source_;
  const size_t most_;
  std::vector<Node> parents_ = {0};
  std::vector<uint32_t> frames_ = {0};
  std::vector<Name> names_;
  absl::flat_hash_map<std::string, uint32_t> by_text_;
  absl::flat_hash_map<std::pair<Node, uint32_t>, Node> children_;
  absl::flat_hash_map<trace::StackId, Node> known_;
};

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_STACK_TREE_H_
