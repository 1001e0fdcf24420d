// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_
#define MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <cstdint>

// Calls of libmemtrace shared by both ways into torch (the CUDAAllocator subclass and the functions
// for CUDAPluggableAllocator); failures are thrown as torch's exceptions.
namespace memtrace::shim {

inline uint64_t StreamValue(cudaStream_t stream) { return reinterpret_cast<uint64_t>(stream); }

// Throws an error with memtrace_last_error() unless `status` is MEMTRACE_OK.
void ThrowUnlessOk(int status);

// If there is no memory left: tells torch's profiler and the observers, then throws
// torch.OutOfMemoryError. With `at`, the block begins there, in free memory, or torch's error for
// that is thrown.
void* AllocateOrThrow(int device, size_t bytes, cudaStream_t stream, void* at = nullptr);

// The observer is told of all later out-of-memory failures, on every card. Any thread.
void AttachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer);

// Returns the block that contains `address`, and its size in *bytes unless that is null.
void* BaseAllocationOrThrow(void* address, size_t* bytes);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_CORE_CALLS_H_
