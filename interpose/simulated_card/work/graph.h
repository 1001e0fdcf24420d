// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/graph_block.h"

namespace memtrace::card {

// By the numbers of CUgraphNodeType.
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

// What a node does when the graph is launched: a copy, a fill or a host function is carried out, a
// kernel is told to who listens. It is given its place in a stream. Empty: nothing.
struct Work;
using HostWork = std::function<Result(const Work& launch)>;

// That of several nodes, in an order that respects their dependencies.
using GraphWork = std::shared_ptr<const std::vector<HostWork>>;
// Does it up to the first that fails.
Result Do(const GraphWork& work, const Work& launch);

struct Graph;

struct GraphNode {
  NodeType type = NodeType::kKernel;
  std::vector<GraphNode*> dependencies;
  HostWork work;
  Graph* graph = nullptr;
  GraphBlockPointer block;  // of kMemAlloc and kMemFree
};

// Nodes in the order in which they were added; destroyed ones are gone.
struct Graph {
  // With allocation or free nodes a graph can lose no part, be copied, nor be executable twice.
  bool HasMemory() const { return !allocated.empty() || !freed.empty(); }

  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::unordered_set<const GraphBlock*> allocated;  // by its nodes, which own them
  std::unordered_set<const GraphBlock*> freed;
  std::weak_ptr<const void> executable;  // of one with memory
};

// What a launch of an executable graph does: the work of its nodes, each after those that it
// depends on. What of it is memory is known before.
struct GraphLaunch {
  GraphWork work;
  std::shared_ptr<const std::vector<GraphMemoryStep>> memory;
  bool frees_first = false;  // what an earlier launch left allocated
};

struct GraphExec {
  std::vector<NodeType> types;  // in the graph's own order, for an update to compare
  GraphLaunch launch;
  std::shared_ptr<const void> existence;  // for Graph::executable
};

// All graphs of the process. A handle is the address of its object; one that is not alive is
// answered with kInvalidValue, never followed. Safe from any thread.
class Graphs {
 public:
  using Nodes = std::vector<GraphNode*>;
  using Edges = std::vector<std::pair<GraphNode*, GraphNode*>>;  // from, to

  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  Graph* Create();
  Result Destroy(const void* graph);
  // A copy of all nodes and edges; *copies, if not null, gains original -> copy.
  Result Clone(const void* graph, Graph** clone,
               std::unordered_map<const GraphNode*, GraphNode*>* copies = nullptr);

  // Dependencies are nodes of the same graph.
  Result Add(const void* graph, NodeType type, std::span<GraphNode* const> dependencies,
             HostWork work, GraphNode** node);
  // A node that allocates or frees memory of graphs; `work` does it. kInvalidValue for a second
  // free node in a graph, and for one inside and one outside the graph that allocates.
  Result AddMemory(const void* graph, std::span<GraphNode* const> dependencies,
                   const GraphMemoryStep& step, HostWork work, GraphNode** node);
  // kInvalidValue for nodes of other types.
  Result MemoryOf(const void* node, NodeType type, GraphBlockPointer* block) const;
  // Its edges go with it.
  Result DestroyNode(const void* node);
  Result AddEdge(const void* from, const void* to);
  Result RemoveEdge(const void* from, const void* to);

  Result NodesOf(const void* graph, Nodes* nodes) const;
  Result EdgesOf(const void* graph, Edges* edges) const;
  Result DependenciesOf(const void* node, Nodes* nodes) const;
  Result DependentsOf(const void* node, Nodes* nodes) const;
  Result TypeOf(const void* node, NodeType* type) const;
  // Whether each of `nodes` is one of `ends` or something that these depend on.
  bool AreReachedFrom(std::span<GraphNode* const> nodes, std::span<GraphNode* const> ends) const;
  // The graph in Graphviz's language.
  Result Dot(const void* graph, std::string* text) const;

  // kInvalidValue for a graph with a cycle. frees_first: GraphLaunch has it.
  Result Instantiate(const void* graph, GraphExec** exec, bool frees_first = false);
  // Takes over the work of a graph with the same nodes; kExecUpdateFailure for another, and for one
  // with memory, whose addresses are its own.
  Result Update(const void* exec, const void* graph);
  Result DestroyExec(const void* exec);
  // Shared, so that it can run without the lock and outlive an update.
  Result LaunchOf(const void* exec, GraphLaunch* launch) const;

 private:
  Graph* Find(const void* graph) const;
  GraphNode* FindNode(const void* node) const;
  GraphNode* AddLocked(Graph* graph, NodeType type, Nodes dependencies, HostWork work);
  bool AreNodesOf(const Graph* graph, std::span<GraphNode* const> nodes) const;
  static bool Order(const Graph& graph, Nodes* ordered);

  mutable Mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Graph>> graphs_;  // this and below: by mutex_
  std::unordered_set<const void*> nodes_;
  std::unordered_map<const void*, std::unique_ptr<GraphExec>> execs_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_H_
