// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_KEEPER_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_KEEPER_H_

#include <cstdint>
#include <string>

namespace memtrace::analysis {

// A variable of the program that keeps what grows, as the hooks found it when memory ran out or the
// program ended.
struct Keeper {
  enum class Kind : uint8_t {
    kElements,        // what grows is in a container
    kElementsGraphs,  // what grows is in the graphs of the tensors in a container
    kGraph,           // what grows is in the graph of one tensor
    kGradients,       // tensors and their gradients, which have graphs, refer to each other
  };

  Kind kind = Kind::kElements;
  std::string container;  // "list", "dict", ...; empty if it is a tensor
  std::string name;       // "kept", "self.seen"
  std::string place;      // "train.py", "validation_step, train.py"
  uint64_t count = 0;     // elements; operations of a graph
  std::string line;       // the user's that made a tensor with its graph, or called the backward
  std::string hook;       // that fills the container: "keep (train.py:6)"
  uint64_t numbers = 0;   // in its tensor, or in the largest of its elements; 0 if not known
  // True if it lies in storage of more than its own numbers, as losses do that torch averages.
  bool is_in_larger = false;
  std::string metric;  // the class of torchmetrics whose state it is; empty if it is none
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_KEEPER_H_
