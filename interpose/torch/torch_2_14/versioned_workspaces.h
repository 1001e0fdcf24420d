// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_WORKSPACES_H_

#include <c10/core/Allocator.h>

#include <cstddef>
#include <utility>

namespace memtrace::shim {

// One entry of torch's maps of workspaces. Seen in 2.15: with its size, which may be another than
// the one chosen now.
using KeptWorkspace = std::pair<c10::DataPtr, std::size_t>;

inline void* AddressOf(const KeptWorkspace& workspace) { return workspace.first.get(); }
inline int DeviceOf(const KeptWorkspace& workspace) { return workspace.first.device().index(); }

// `chosen` is the size that torch gives to new ones.
inline std::size_t BytesOf(const KeptWorkspace& workspace, std::size_t /*chosen*/) {
  return workspace.second;
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_WORKSPACES_H_
