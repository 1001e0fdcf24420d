// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/graphs.h"

#include <algorithm>
#include <utility>

namespace memtrace::card {

Graph* Graphs::Find(const void* graph) const {
  const auto found = graphs_.find(graph);
  return found == graphs_.end() ? nullptr : found->second.get();
}

GraphNode* Graphs::FindNode(const void* node) const {
  return nodes_.contains(node) ? static_cast<GraphNode*>(const_cast<void*>(node)) : nullptr;
}

Graph* Graphs::Create() {
  auto graph = std::make_unique<Graph>();
  Graph* const handle = graph.get();
  const MutexLock lock(mutex_);
  graphs_.emplace(handle, std::move(graph));
  return handle;
}

Result Graphs::Destroy(const void* handle) {
  const MutexLock lock(mutex_);
  const Graph* graph = Find(handle);
  if (graph == nullptr) return Result::kInvalidValue;
  for (const auto& node : graph->nodes) nodes_.erase(node.get());
  graphs_.erase(handle);
  return Result::kSuccess;
}

GraphNode* Graphs::AddLocked(Graph* graph, NodeType type, Graph::Nodes dependencies,
                             HostWork work) {
  auto node = std::make_unique<GraphNode>(GraphNode{.type = type,
                                                    .dependencies = std::move(dependencies),
                                                    .work = std::move(work),
                                                    .graph = graph,
                                                    .block = nullptr});
  nodes_.insert(node.get());
  graph->nodes.push_back(std::move(node));
  return graph->nodes.back().get();
}

bool Graphs::AreNodesOf(const Graph* graph, std::span<GraphNode* const> nodes) const {
  return std::all_of(nodes.begin(), nodes.end(), [&](const GraphNode* node) {
    const GraphNode* alive = FindNode(node);
    return alive != nullptr && alive->graph == graph;
  });
}

Result Graphs::Add(const void* handle, NodeType type, std::span<GraphNode* const> dependencies,
                   HostWork work, GraphNode** node) {
  const MutexLock lock(mutex_);
  Graph* graph = Find(handle);
  if (graph == nullptr || !AreNodesOf(graph, dependencies)) return Result::kInvalidValue;
  *node = AddLocked(graph, type, {dependencies.begin(), dependencies.end()}, std::move(work));
  return Result::kSuccess;
}

Result Graphs::AddMemory(const void* handle, std::span<GraphNode* const> dependencies,
                         const GraphMemoryStep& step, HostWork work, GraphNode** node) {
  GraphBlock& block = *step.block;
  const MutexLock lock(mutex_);
  Graph* graph = Find(handle);
  if (graph == nullptr || !AreNodesOf(graph, dependencies)) return Result::kInvalidValue;
  if (step.frees) {
    const bool is_owner = graph->allocated.contains(&block);
    if (is_owner ? block.is_freed_by_another : block.is_freed_by_owner)
      return Result::kInvalidValue;
    if (!graph->freed.insert(&block).second) return Result::kInvalidValue;
    (is_owner ? block.is_freed_by_owner : block.is_freed_by_another) = true;
  } else {
    graph->allocated.insert(&block);
  }
  const NodeType type = step.frees ? NodeType::kMemFree : NodeType::kMemAlloc;
  *node = AddLocked(graph, type, {dependencies.begin(), dependencies.end()}, std::move(work));
  (*node)->block = step.block;
  return Result::kSuccess;
}

Result Graphs::Clone(const void* handle, Graph** clone) {
  auto owned = std::make_unique<Graph>();
  const MutexLock lock(mutex_);
  const Graph* graph = Find(handle);
  if (graph == nullptr || graph->HasMemory()) return Result::kInvalidValue;
  std::unordered_map<const GraphNode*, GraphNode*> made;
  for (const auto& node : graph->nodes)
    made[node.get()] = AddLocked(owned.get(), node->type, {}, node->work);
  for (const auto& node : graph->nodes) {
    for (const GraphNode* dependency : node->dependencies)
      made[node.get()]->dependencies.push_back(made.at(dependency));
  }
  *clone = owned.get();
  graphs_.emplace(owned.get(), std::move(owned));
  return Result::kSuccess;
}

Result Graphs::DestroyNode(const void* handle) {
  const MutexLock lock(mutex_);
  GraphNode* node = FindNode(handle);
  if (node == nullptr || node->graph->HasMemory()) return Result::kInvalidValue;
  nodes_.erase(node);
  Graph& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
  std::erase_if(graph.nodes, [node](const auto& owned) { return owned.get() == node; });
  return Result::kSuccess;
}

Result Graphs::AddEdge(const void* from, const void* to) {
  const MutexLock lock(mutex_);
  GraphNode* source = FindNode(from);
  GraphNode* target = FindNode(to);
  if (source == nullptr || target == nullptr || source == target ||
      source->graph != target->graph || target->DependsOn(source)) {
    return Result::kInvalidValue;
  }
  target->dependencies.push_back(source);
  return Result::kSuccess;
}

Result Graphs::RemoveEdge(const void* from, const void* to) {
  const MutexLock lock(mutex_);
  const GraphNode* source = FindNode(from);
  GraphNode* target = FindNode(to);
  if (source == nullptr || target == nullptr || target->graph->HasMemory())
    return Result::kInvalidValue;
  return std::erase(target->dependencies, source) == 1 ? Result::kSuccess : Result::kInvalidValue;
}

bool Graphs::AreReachedFrom(std::span<GraphNode* const> nodes,
                            std::span<GraphNode* const> ends) const {
  const MutexLock lock(mutex_);
  std::unordered_set<const GraphNode*> reached(ends.begin(), ends.end());
  Graph::Nodes open(ends.begin(), ends.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    for (GraphNode* dependency : node->dependencies) {
      if (reached.insert(dependency).second) open.push_back(dependency);
    }
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const GraphNode* node) { return reached.contains(node); });
}

}  // namespace memtrace::card
