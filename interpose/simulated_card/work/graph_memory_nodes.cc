// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The allocation and free nodes of Graphs. Rules: cuda.h, cuGraphAddMemAllocNode and
// cuGraphAddMemFreeNode.
#include "base/mutex.h"
#include "interpose/simulated_card/work/graph.h"

namespace memtrace::card {

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

Result Graphs::MemoryOf(const void* handle, NodeType type, GraphBlockPointer* block) const {
  const MutexLock lock(mutex_);
  const GraphNode* node = FindNode(handle);
  if (node == nullptr || node->block == nullptr || node->type != type) return Result::kInvalidValue;
  *block = node->block;
  return Result::kSuccess;
}

}  // namespace memtrace::card
