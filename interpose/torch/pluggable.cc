// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions for torch.cuda.memory.CUDAPluggableAllocator(library, "memtrace_malloc",
// "memtrace_free") and its setters, for programs that cannot use memtrace.enable(). torch looks
// nothing up but these names, so they are the interface. A null return would become a tensor at
// address 0 (torch does not check): memtrace_malloc throws instead.
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include "interpose/core/memtrace.h"
#include "interpose/torch/out_of_memory.h"

#define MEMTRACE_PLUGGABLE extern "C" MEMTRACE_API

namespace {

uint64_t StreamValue(cudaStream_t stream) { return reinterpret_cast<uint64_t>(stream); }

// torch calls set_init_fn's function only if it is set; without it the first allocation starts us.
void StartOnce() {
  static const int kStatus = [] {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess
               ? memtrace_start(devices, MEMTRACE_MODE_ALLOCATE)
               : static_cast<int>(MEMTRACE_NOT_STARTED);
  }();
  TORCH_CHECK(kStatus == MEMTRACE_OK, "memtrace: ", memtrace_last_error());
}

}  // namespace

MEMTRACE_PLUGGABLE void* memtrace_malloc(size_t bytes, int device, cudaStream_t stream) {
  if (bytes == 0) return nullptr;  // torch forwards requests for nothing
  StartOnce();
  const uint64_t context = memtrace_capture_context();
  memtrace_out_of_memory out_of_memory{};
  out_of_memory.size = sizeof(out_of_memory);
  void* address = nullptr;
  const int status =
      memtrace_allocate(device, bytes, StreamValue(stream), context, &address, &out_of_memory);
  if (status == MEMTRACE_OUT_OF_MEMORY) memtrace::shim::ThrowOutOfMemory(out_of_memory);
  TORCH_CHECK(status == MEMTRACE_OK, "memtrace: ", memtrace_last_error());
  return address;
}

MEMTRACE_PLUGGABLE void memtrace_free(void* address, size_t /*bytes*/, int /*device*/,
                                      cudaStream_t /*stream*/) {
  if (address != nullptr) memtrace_deallocate(address);
}

MEMTRACE_PLUGGABLE void memtrace_init(int device_count) {
  memtrace_start(device_count, MEMTRACE_MODE_ALLOCATE);
}

MEMTRACE_PLUGGABLE void memtrace_reset() { memtrace_empty_cache(); }

MEMTRACE_PLUGGABLE void memtrace_record_block_stream(void* address, cudaStream_t stream) {
  memtrace_record_stream(address, StreamValue(stream));
}

MEMTRACE_PLUGGABLE void* memtrace_base_address(void* address, size_t* bytes) {
  void* base = nullptr;
  uint64_t size = 0;
  TORCH_CHECK(memtrace_base_allocation(address, &base, &size) == MEMTRACE_OK,
              "invalid device pointer: ", address);
  if (bytes != nullptr) *bytes = size;
  return base;
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
