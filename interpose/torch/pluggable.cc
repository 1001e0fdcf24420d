// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions for torch.cuda.memory.CUDAPluggableAllocator(library, "memtrace_malloc",
// "memtrace_free") and its setters, for programs that cannot use memtrace.enable(). torch looks
// nothing up but these names, so they are the interface. A null return would become a tensor at
// address 0 (torch does not check): memtrace_malloc throws instead.
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "interpose/core/memtrace.h"
#include "interpose/torch/autograd_context.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/operations/operation_uses.h"
#include "interpose/torch/private_pools.h"

#define MEMTRACE_PLUGGABLE extern "C" MEMTRACE_API

namespace {

int Start(int devices) {
  const int status = memtrace_start(devices, MEMTRACE_MODE_ALLOCATE);
  memtrace::shim::FollowUses();
  return status;
}

// torch calls set_init_fn's function only if it is set; without it, the first allocation starts us.
void StartOnce() {
  static const int kStatus = [] {
    memtrace::shim::FollowAutograd();
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return static_cast<int>(MEMTRACE_NOT_STARTED);
    return Start(devices);
  }();
  memtrace::shim::ThrowUnlessOk(kStatus);
}

}  // namespace

MEMTRACE_PLUGGABLE void* memtrace_malloc(size_t bytes, int device, cudaStream_t stream) {
  if (bytes == 0) return nullptr;  // torch also forwards requests for no bytes
  StartOnce();
  return memtrace::shim::AllocateOrThrow(device, bytes, stream);
}

MEMTRACE_PLUGGABLE void memtrace_free(void* address, size_t /*bytes*/, int /*device*/,
                                      cudaStream_t /*stream*/) {
  if (address != nullptr) memtrace_deallocate(address);
}

MEMTRACE_PLUGGABLE void memtrace_init(int device_count) {
  memtrace::shim::FollowAutograd();
  static_cast<void>(Start(device_count));
}

MEMTRACE_PLUGGABLE void memtrace_reset() { memtrace_empty_cache(); }

MEMTRACE_PLUGGABLE void memtrace_record_block_stream(void* address, cudaStream_t stream) {
  memtrace_record_stream(address, memtrace::shim::StreamValue(stream));
}

MEMTRACE_PLUGGABLE void* memtrace_base_address(void* address, size_t* bytes) {
  return memtrace::shim::BaseAllocationOrThrow(address, bytes);
}

MEMTRACE_PLUGGABLE void memtrace_memory_fraction(double fraction, int device) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
  size_t free = 0;
  size_t total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
  memtrace_set_limit(device, fraction >= 1
                                 ? ~uint64_t{0}
                                 : static_cast<uint64_t>(fraction * static_cast<double>(total)));
}

// For set_begin_allocate_to_pool, set_end_allocate_to_pool_fn and set_release_pool.
MEMTRACE_PLUGGABLE void memtrace_pool_begin(int device, memtrace::shim::MempoolId_t pool,
                                            std::function<bool(cudaStream_t)> filter) {
  memtrace::shim::BeginAllocateToPool(static_cast<c10::DeviceIndex>(device), pool,
                                      std::move(filter));
}

MEMTRACE_PLUGGABLE void memtrace_pool_end(int device, memtrace::shim::MempoolId_t pool) {
  const memtrace_pool id = memtrace::shim::ToAbi(pool);
  memtrace::shim::ThrowUnlessOk(memtrace_end_routing(device, &id));
}

MEMTRACE_PLUGGABLE void memtrace_pool_release(int device, memtrace::shim::MempoolId_t pool) {
  const memtrace_pool id = memtrace::shim::ToAbi(pool);
  memtrace::shim::ThrowUnlessOk(memtrace_release_pool(device, &id));
}
