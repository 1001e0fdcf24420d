// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_
#define MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <cstdint>

// The calls of libmemtrace that both ways into torch make (the CUDAAllocator subclass and the
// functions for CUDAPluggableAllocator), with what fails thrown as torch's exceptions.
namespace memtrace::shim {

inline uint64_t StreamValue(cudaStream_t stream) { return reinterpret_cast<uint64_t>(stream); }

// Throws what memtrace_last_error() says unless `status` is MEMTRACE_OK.
void ThrowUnlessOk(int status);

// Without memory left: tells torch's profiler and the observers, then throws
// torch.OutOfMemoryError. With `at` the block begins there, in free memory, or torch's error for
// that is thrown.
void* AllocateOrThrow(int device, size_t bytes, cudaStream_t stream, void* at = nullptr);

// Of all later failures, on every card. Any thread.
void AttachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer);

// The block that `address` lies in; its size in *bytes unless that is null.
void* BaseAllocationOrThrow(void* address, size_t* bytes);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_
