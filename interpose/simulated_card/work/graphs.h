// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPHS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPHS_H_

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/graph.h"
#include "interpose/simulated_card/work/graph_block.h"

namespace memtrace::card {

// All graphs of the process and their nodes: tells which exist, and changes them. A handle is the
// address of its object; kInvalidValue for one that is not alive, which is never dereferenced.
// Rules of allocation and free nodes: cuda.h, cuGraphAddMemAllocNode and cuGraphAddMemFreeNode.
// Safe from any thread.
class Graphs {
 public:
  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  Graph* Create();
  Result Destroy(const void* graph);
  // Makes a copy with all nodes and edges.
  Result Clone(const void* graph, Graph** clone);

  // Dependencies must be nodes of the same graph.
  Result Add(const void* graph, NodeType type, std::span<GraphNode* const> dependencies,
             HostWork work, GraphNode** node);
  // Adds a node that allocates or frees memory of graphs, with `work`. kInvalidValue for a second
  // free node in a graph, and for one inside and one outside the graph that allocates.
  Result AddMemory(const void* graph, std::span<GraphNode* const> dependencies,
                   const GraphMemoryStep& step, HostWork work, GraphNode** node);
  // Also removes its edges.
  Result DestroyNode(const void* node);
  Result AddEdge(const void* from, const void* to);
  Result RemoveEdge(const void* from, const void* to);

  // True if each of `nodes` is one of `ends` or a direct or indirect dependency of one.
  bool AreReachedFrom(std::span<GraphNode* const> nodes, std::span<GraphNode* const> ends) const;

  // Returns body(graph); the graph does not change meanwhile. `body` must not call these functions.
  template <typename Body>
  Result Visit(const void* graph, Body body) {
    const MutexLock lock(mutex_);
    Graph* const found = Find(graph);
    return found == nullptr ? Result::kInvalidValue : body(*found);
  }
  // Does the same for a node, with its graph.
  template <typename Body>
  Result VisitNode(const void* node, Body body) const {
    const MutexLock lock(mutex_);
    const GraphNode* const found = FindNode(node);
    return found == nullptr ? Result::kInvalidValue : body(*found);
  }

 private:
  Graph* Find(const void* graph) const;
  GraphNode* FindNode(const void* node) const;
  GraphNode* AddLocked(Graph* graph, NodeType type, Graph::Nodes dependencies, HostWork work);
  bool AreNodesOf(const Graph* graph, std::span<GraphNode* const> nodes) const;

  mutable Mutex mutex_;
  // mutex_ guards this and the members below.
  std::unordered_map<const void*, std::unique_ptr<Graph>> graphs_;
  std::unordered_set<const void*> nodes_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPHS_H_
