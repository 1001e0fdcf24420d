// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_

#include <ATen/cuda/CUDAContextLight.h>

#include <mutex>
#include <shared_mutex>

namespace memtrace::shim {

using WorkspaceMap = at::cuda::WorkspaceMapWithMutex;

// Calls visit(the workspace, its bytes if they are kept or else 0) for each that torch keeps. Never
// waits: the caller may be an out-of-memory in the middle of making one.
template <typename Visit>
void VisitWorkspaces(WorkspaceMap& workspaces, const Visit& visit) {
  const std::shared_lock lock(workspaces.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (const auto& [handle_and_stream, workspace] : workspaces.map) visit(workspace, 0);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_WORKSPACES_H_
