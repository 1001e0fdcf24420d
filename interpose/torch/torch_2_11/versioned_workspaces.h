// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_WORKSPACES_H_

#include <c10/core/Allocator.h>

#include <cstddef>

namespace memtrace::shim {

// One entry of torch's maps of workspaces. Its size is not kept.
using KeptWorkspace = c10::DataPtr;

inline void* AddressOf(const KeptWorkspace& workspace) { return workspace.get(); }
inline int DeviceOf(const KeptWorkspace& workspace) { return workspace.device().index(); }

// `chosen` is the size that torch gives to new ones.
inline std::size_t BytesOf(const KeptWorkspace& /*workspace*/, std::size_t chosen) {
  return chosen;
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_2_11_VERSIONED_WORKSPACES_H_
