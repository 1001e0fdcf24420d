// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_
#define MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_

#include <optional>

#include "interpose/preload/cuda_driver.h"

// MEMTRACE_CACHE=1: our allocator serves cuMemAlloc and cuMemFree, and with them cudaMalloc and
// cudaFree. It maps memory for a card's primary context; a program that has made a context of its
// own gets the driver's memory. A function returns nothing if the request is not ours; the caller
// then asks the driver. Thread rule: any thread.
namespace memtrace::preload {

std::optional<CUresult> AllocateCached(CUdeviceptr* address, size_t bytes, const void* caller);

// Waits for the card first, as the driver does, because the next user of the memory may be on
// another stream.
std::optional<CUresult> FreeCached(CUdeviceptr address);

std::optional<CUresult> RangeOfCached(CUdeviceptr* base, size_t* bytes, CUdeviceptr address);

// The card's primary context is reset: from now on, the driver serves it.
void StopCaching(CUdevice device);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_
