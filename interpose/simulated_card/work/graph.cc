// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/graph.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

std::string_view NameOf(NodeType type) {
  constexpr std::array<std::string_view, 12> kNames = {
      "kernel",     "memcpy",       "memset", "host", "graph",     "empty",
      "wait event", "event record", "signal", "wait", "mem alloc", "mem free"};
  const auto number = static_cast<std::size_t>(type);
  return number < kNames.size() ? kNames[number] : "node";
}

GraphLaunch MakeLaunch(std::span<GraphNode* const> ordered) {
  std::vector<HostWork> work;
  std::vector<GraphMemoryStep> memory;
  for (const GraphNode* node : ordered) {
    if (node->work != nullptr) work.push_back(node->work);
    if (node->block != nullptr) memory.push_back({node->block, node->type == NodeType::kMemFree});
  }
  return {.work = std::make_shared<const std::vector<HostWork>>(std::move(work)),
          .memory = std::make_shared<const std::vector<GraphMemoryStep>>(std::move(memory))};
}

bool Contains(std::span<GraphNode* const> nodes, const GraphNode* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

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

Result Do(const GraphWork& work, const Work& launch) {
  for (const HostWork& one : *work) {
    if (const Result done = one(launch); done != Result::kSuccess) return done;
  }
  return Result::kSuccess;
}

GraphNode* Graphs::AddLocked(Graph* graph, NodeType type, Nodes dependencies, HostWork work) {
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

Result Graphs::Clone(const void* handle, Graph** clone,
                     std::unordered_map<const GraphNode*, GraphNode*>* copies) {
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
  if (copies != nullptr) *copies = std::move(made);
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
      source->graph != target->graph || Contains(target->dependencies, source)) {
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

Result Graphs::NodesOf(const void* handle, Nodes* nodes) const {
  const MutexLock lock(mutex_);
  const Graph* graph = Find(handle);
  if (graph == nullptr) return Result::kInvalidValue;
  for (const auto& node : graph->nodes) nodes->push_back(node.get());
  return Result::kSuccess;
}

Result Graphs::EdgesOf(const void* handle, Edges* edges) const {
  const MutexLock lock(mutex_);
  const Graph* graph = Find(handle);
  if (graph == nullptr) return Result::kInvalidValue;
  for (const auto& node : graph->nodes) {
    for (GraphNode* dependency : node->dependencies) edges->emplace_back(dependency, node.get());
  }
  return Result::kSuccess;
}

Result Graphs::DependenciesOf(const void* handle, Nodes* nodes) const {
  const MutexLock lock(mutex_);
  const GraphNode* node = FindNode(handle);
  if (node == nullptr) return Result::kInvalidValue;
  *nodes = node->dependencies;
  return Result::kSuccess;
}

Result Graphs::DependentsOf(const void* handle, Nodes* nodes) const {
  const MutexLock lock(mutex_);
  const GraphNode* node = FindNode(handle);
  if (node == nullptr) return Result::kInvalidValue;
  for (const auto& other : node->graph->nodes) {
    if (Contains(other->dependencies, node)) nodes->push_back(other.get());
  }
  return Result::kSuccess;
}

Result Graphs::TypeOf(const void* handle, NodeType* type) const {
  const MutexLock lock(mutex_);
  const GraphNode* node = FindNode(handle);
  if (node == nullptr) return Result::kInvalidValue;
  *type = node->type;
  return Result::kSuccess;
}

bool Graphs::AreReachedFrom(std::span<GraphNode* const> nodes,
                            std::span<GraphNode* const> ends) const {
  const MutexLock lock(mutex_);
  std::unordered_set<const GraphNode*> reached(ends.begin(), ends.end());
  Nodes open(ends.begin(), ends.end());
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

Result Graphs::Dot(const void* handle, std::string* text) const {
  const MutexLock lock(mutex_);
  const Graph* graph = Find(handle);
  if (graph == nullptr) return Result::kInvalidValue;
  std::unordered_map<const GraphNode*, std::string> names;
  *text = "digraph simulated_card {\n";
  for (const auto& node : graph->nodes) {
    const std::string name = "node_" + std::to_string(names.size());
    *text += "  " + name + " [label=\"" + std::string(NameOf(node->type)) + "\"];\n";
    names.emplace(node.get(), name);
  }
  for (const auto& node : graph->nodes) {
    for (const GraphNode* dependency : node->dependencies)
      *text += "  " + names.at(dependency) + " -> " + names.at(node.get()) + ";\n";
  }
  *text += "}\n";
  return Result::kSuccess;
}

// Kahn's: nodes whose dependencies are all placed come next, in the graph's own order.
bool Graphs::Order(const Graph& graph, Nodes* ordered) {
  std::unordered_map<const GraphNode*, std::size_t> missing;
  std::unordered_map<const GraphNode*, Nodes> dependents;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const GraphNode* dependency : node->dependencies)
      dependents[dependency].push_back(node.get());
    if (node->dependencies.empty()) ordered->push_back(node.get());
  }
  for (std::size_t next = 0; next < ordered->size(); ++next) {
    for (GraphNode* dependent : dependents[(*ordered)[next]]) {
      if (--missing[dependent] == 0) ordered->push_back(dependent);
    }
  }
  return ordered->size() == graph.nodes.size();
}

Result Graphs::Instantiate(const void* handle, GraphExec** exec, bool frees_first) {
  auto owned = std::make_unique<GraphExec>();
  const MutexLock lock(mutex_);
  Graph* graph = Find(handle);
  Nodes ordered;
  if (graph == nullptr || !Order(*graph, &ordered)) return Result::kInvalidValue;
  if (graph->HasMemory()) {
    if (!graph->executable.expired()) return Result::kInvalidValue;
    owned->existence = std::make_shared<const int>();
    graph->executable = owned->existence;
  }
  for (const auto& node : graph->nodes) owned->types.push_back(node->type);
  owned->launch = MakeLaunch(ordered);
  owned->launch.frees_first = frees_first;
  *exec = owned.get();
  execs_.emplace(owned.get(), std::move(owned));
  return Result::kSuccess;
}

Result Graphs::Update(const void* handle, const void* graph) {
  {
    const MutexLock lock(mutex_);
    const Graph* source = Find(graph);
    if (source != nullptr && source->HasMemory()) return Result::kExecUpdateFailure;
  }
  GraphExec* fresh = nullptr;
  const Result instantiated = Instantiate(graph, &fresh);
  if (instantiated != Result::kSuccess) return instantiated;
  const MutexLock lock(mutex_);
  const auto exec = execs_.find(handle);
  const auto made = execs_.find(fresh);
  Result result = Result::kInvalidValue;
  if (exec != execs_.end()) {
    const bool same = exec->second->types == made->second->types;
    if (same) exec->second->launch.work = std::move(made->second->launch.work);
    result = same ? Result::kSuccess : Result::kExecUpdateFailure;
  }
  execs_.erase(made);
  return result;
}

Result Graphs::DestroyExec(const void* exec) {
  const MutexLock lock(mutex_);
  return execs_.erase(exec) == 1 ? Result::kSuccess : Result::kInvalidValue;
}

Result Graphs::LaunchOf(const void* handle, GraphLaunch* launch) const {
  const MutexLock lock(mutex_);
  const auto exec = execs_.find(handle);
  if (exec == execs_.end()) return Result::kInvalidValue;
  *launch = exec->second->launch;
  return Result::kSuccess;
}

}  // namespace memtrace::card
