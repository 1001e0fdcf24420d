// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_

#include <ATen/cuda/CUDAContextLight.h>

#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace memtrace::shim {

using WorkspaceMap = at::cuda::WorkspaceMapWithMutex;

// Up to 2.12 an entry of the map is only the block: its size is not kept.
template <typename Visit>
void VisitEntry(const c10::DataPtr& block, const Visit& visit) {
  visit(block, 0);
}
// Since 2.13 it also has the block's bytes, which may differ from the size chosen now.
template <typename Visit>
void VisitEntry(const std::pair<c10::DataPtr, std::size_t>& kept, const Visit& visit) {
  visit(kept.first, kept.second);
}

// Calls visit(the block, its bytes or 0) for each workspace that torch keeps. Never waits, because
// the caller may handle an out-of-memory in the middle of making one.
template <typename Visit>
void VisitWorkspaces(WorkspaceMap& workspaces, const Visit& visit) {
  const std::shared_lock lock(workspaces.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (const auto& [handle_and_stream, kept] : workspaces.map) VisitEntry(kept, visit);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_
