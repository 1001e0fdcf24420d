// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/graph_block.h"

namespace memtrace::card {

// The numbers are those of CUgraphNodeType.
enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWaitEvent = 6,
  kEventRecord = 7,
  kMemAlloc = 10,
  kMemFree = 11,
};

// A node's action when the graph is launched: it carries out a copy, a fill or a host function, and
// reports a kernel to a listener. It gets its place in a stream. Empty: nothing.
struct Work;
using HostWork = std::function<Result(const Work& launch)>;

struct Graph;

struct GraphNode {
  // True if `other` is one of its dependencies.
  bool DependsOn(const GraphNode* other) const;
  // Finds the block that a node of this type, kMemAlloc or kMemFree, allocates or frees;
  // kInvalidValue for a node of another type.
  Result MemoryOf(NodeType expected, GraphBlockPointer* found) const;

  NodeType type = NodeType::kKernel;
  std::vector<GraphNode*> dependencies;
  HostWork work;
  Graph* graph = nullptr;
  GraphBlockPointer block;  // for kMemAlloc and kMemFree
};

// Nodes in the order in which they were added, without destroyed ones. Graphs guards and changes
// the contents of graphs and nodes.
struct Graph {
  using Nodes = std::vector<GraphNode*>;
  using Edges = std::vector<std::pair<GraphNode*, GraphNode*>>;  // from, to

  // A graph with allocation or free nodes can neither lose a part, be copied, nor have two
  // executables.
  bool HasMemory() const { return !allocated.empty() || !freed.empty(); }
  Nodes AllNodes() const;
  Edges AllEdges() const;
  Nodes DependentsOf(const GraphNode* node) const;
  // Gives all nodes, each after those that it depends on; returns false for a graph with a cycle.
  bool Order(Nodes* ordered) const;
  // Returns the graph in Graphviz's language.
  std::string Dot() const;

  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::unordered_set<const GraphBlock*> allocated;  // by its nodes, which own them
  std::unordered_set<const GraphBlock*> freed;
  std::weak_ptr<const void> executable;  // for a graph with memory
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_
