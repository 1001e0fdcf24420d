// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_IPC_MEMORY_H_
#define MEMTRACE_INTERPOSE_TORCH_IPC_MEMORY_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <memory>
#include <string>

// Shares CUDA tensors with other processes (torch.multiprocessing). Failures are thrown as torch's
// exceptions. Any thread.
namespace memtrace::shim {

// The handle is sent to the other process as it is; `address` is in a block in use, or is the start
// of memory straight from cudaMalloc.
c10::cuda::CUDACachingAllocator::ShareableHandle ShareMemory(void* address);

// Returns the memory of the handle, mapped for the current device until the last holder releases
// it. The same handle gives the same memory.
std::shared_ptr<void> OpenSharedMemory(const std::string& handle);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_IPC_MEMORY_H_
