// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions by which `memtrace bench` tries the allocator that torch uses, its own or ours, in
// the form of interpose/bench/memtrace_bench.h. They go the way of torch's own C++ code.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>
#include <sys/types.h>

extern "C" {

// Returns null if torch is out of memory.
__attribute__((visibility("default"))) void* memtrace_bench_torch_malloc(ssize_t bytes,
                                                                         int /*device*/,
                                                                         cudaStream_t stream) {
  try {
    return c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(static_cast<size_t>(bytes),
                                                                  stream);
  } catch (const c10::Error&) {
    return nullptr;
  }
}

__attribute__((visibility("default"))) void memtrace_bench_torch_free(void* address,
                                                                      ssize_t /*bytes*/,
                                                                      int /*device*/,
                                                                      cudaStream_t /*stream*/) {
  c10::cuda::CUDACachingAllocator::raw_delete(address);
}

}  // extern "C"
