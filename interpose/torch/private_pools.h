// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_PRIVATE_POOLS_H_
#define MEMTRACE_INTERPOSE_TORCH_PRIVATE_POOLS_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <functional>
#include <memory>
#include <unordered_set>

#include "interpose/core/memtrace.h"
#include "interpose/torch/mempool_id.h"

// torch's private pools (graphs, torch.cuda.MemPool, checkpoints), served by libmemtrace. Failures
// are thrown as torch's exceptions. Any thread.
namespace memtrace::shim {

inline memtrace_pool ToAbi(const MempoolId_t& pool) { return {pool.first, pool.second}; }
inline MempoolId_t ToTorch(const memtrace_pool& pool) { return {pool.first, pool.second}; }

// Adds one user; a new pool is made with `source`, which may be null.
void RetainPool(c10::DeviceIndex device, const MempoolId_t& pool,
                std::shared_ptr<c10::cuda::CUDACachingAllocator::CUDAAllocator> source);

// Does the same as RetainPool, and serves the requests that `filter` selects from the pool.
void BeginAllocateToPool(c10::DeviceIndex device, const MempoolId_t& pool,
                         std::function<bool(cudaStream_t)> filter);

// Returns 0 for a pool that does not exist.
int PoolUseCount(c10::DeviceIndex device, const MempoolId_t& pool);

// True if exactly these blocks of the pool are in use.
bool HasLiveAllocations(c10::DeviceIndex device, const MempoolId_t& pool,
                        const std::unordered_set<void*>& expected);

std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> CheckpointPool(
    c10::DeviceIndex device, const MempoolId_t& pool);

// `deleter` is the deleter of the blocks that are allocated again.
c10::cuda::CUDACachingAllocator::CheckpointDelta RestorePool(
    c10::DeviceIndex device, const c10::cuda::CUDACachingAllocator::AllocatorState& checkpoint,
    c10::DeleterFnPtr deleter);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_PRIVATE_POOLS_H_
