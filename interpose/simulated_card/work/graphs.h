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

// All graphs of the process and their nodes; which exist, and what changes them. A handle is the
// address of its object; one that is not alive is answered with kInvalidValue, never followed.
// Rules of allocation and free nodes: cuda.h, cuGraphAddMemAllocNode and cuGraphAddMemFreeNode.
// Safe from any thread.
class Graphs {
 public:
  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  Graph* Create();
  Result Destroy(const void* graph);
  // A copy of all nodes and edges.
  Result Clone(const void* graph, Graph** clone);

  // Dependencies are nodes of the same graph.
  Result Add(const void* graph, NodeType type, std::span<GraphNode* const> dependencies,
             HostWork work, GraphNode** node);
  // A node that allocates or frees memory of graphs; `work` does it. kInvalidValue for a second
  // free node in a graph, and for one inside and one outside the graph that allocates.
  Result AddMemory(const void* graph, std::span<GraphNode* const> dependencies,
                   const GraphMemoryStep& step, HostWork work, GraphNode** node);
  // Its edges go with it.
  Result DestroyNode(const void* node);
  Result AddEdge(const void* from, const void* to);
  Result RemoveEdge(const void* from, const void* to);

  // True if each of `nodes` is one of `ends` or something that these depend on.
  bool AreReachedFrom(std::span<GraphNode* const> nodes, std::span<GraphNode* const> ends) const;

  // Returns body(graph), which nothing changes meanwhile. `body` may not call these functions.
  template <typename Body>
  Result Visit(const void* graph, Body body) {
    const MutexLock lock(mutex_);
    Graph* const found = Find(graph);
    return found == nullptr ? Result::kInvalidValue : body(*found);
  }
  // The same for a node, with its graph.
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
  std::unordered_map<const void*, std::unique_ptr<Graph>> graphs_;  // this and below: by mutex_
  std::unordered_set<const void*> nodes_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPHS_H_
