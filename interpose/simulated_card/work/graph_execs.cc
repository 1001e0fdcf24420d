// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/graph_execs.h"

#include <utility>

namespace memtrace::card {
namespace {

GraphLaunch MakeLaunch(const Graph::Nodes& ordered) {
  std::vector<HostWork> work;
  std::vector<GraphMemoryStep> memory;
  for (const GraphNode* node : ordered) {
    if (node->work != nullptr) work.push_back(node->work);
    if (node->block != nullptr) memory.push_back({node->block, node->type == NodeType::kMemFree});
  }
  return {.work = std::make_shared<const std::vector<HostWork>>(std::move(work)),
          .memory = std::make_shared<const std::vector<GraphMemoryStep>>(std::move(memory))};
}

Result Make(Graph& graph, GraphExec* exec) {
  Graph::Nodes ordered;
  if (!graph.Order(&ordered)) return Result::kInvalidValue;
  if (graph.HasMemory()) {
    if (!graph.executable.expired()) return Result::kInvalidValue;
    exec->existence = std::make_shared<const int>();
    graph.executable = exec->existence;
  }
  for (const auto& node : graph.nodes) exec->types.push_back(node->type);
  exec->launch = MakeLaunch(ordered);
  return Result::kSuccess;
}

}  // namespace

Result DoWork(const GraphWork& work, const Work& launch) {
  for (const HostWork& one : *work) {
    if (const Result done = one(launch); done != Result::kSuccess) return done;
  }
  return Result::kSuccess;
}

Result GraphExecs::Instantiate(const void* graph, GraphExec** exec, bool frees_first) {
  auto owned = std::make_unique<GraphExec>();
  const Result made =
      graphs_.Visit(graph, [&owned](Graph& source) { return Make(source, owned.get()); });
  if (made != Result::kSuccess) return made;
  owned->launch.frees_first = frees_first;
  *exec = owned.get();
  const MutexLock lock(mutex_);
  execs_.emplace(owned.get(), std::move(owned));
  return Result::kSuccess;
}

Result GraphExecs::Update(const void* handle, const void* graph) {
  GraphExec fresh;
  const Result made = graphs_.Visit(graph, [&fresh](Graph& source) {
    return source.HasMemory() ? Result::kExecUpdateFailure : Make(source, &fresh);
  });
  if (made != Result::kSuccess) return made;
  const MutexLock lock(mutex_);
  const auto exec = execs_.find(handle);
  if (exec == execs_.end()) return Result::kInvalidValue;
  if (exec->second->types != fresh.types) return Result::kExecUpdateFailure;
  exec->second->launch.work = std::move(fresh.launch.work);
  return Result::kSuccess;
}

Result GraphExecs::Destroy(const void* exec) {
  const MutexLock lock(mutex_);
  return execs_.erase(exec) == 1 ? Result::kSuccess : Result::kInvalidValue;
}

Result GraphExecs::LaunchOf(const void* handle, GraphLaunch* launch) const {
  const MutexLock lock(mutex_);
  const auto exec = execs_.find(handle);
  if (exec == execs_.end()) return Result::kInvalidValue;
  *launch = exec->second->launch;
  return Result::kSuccess;
}

}  // namespace memtrace::card
