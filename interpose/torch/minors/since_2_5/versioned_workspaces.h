// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_WORKSPACES_H_

namespace memtrace::shim {

// The map is not read: before 2.10 torch's map of workspaces has no lock, and any thread changes it
// with its first multiplication.
struct WorkspaceMap {};

template <typename Visit>
void VisitWorkspaces(WorkspaceMap& /*workspaces*/, const Visit& /*visit*/) {}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_WORKSPACES_H_
