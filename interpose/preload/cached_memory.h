// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_
#define MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_

#include <optional>

#include "interpose/preload/cuda_driver.h"

// MEMTRACE_CACHE=1: cuMemAlloc and cuMemFree, and with them cudaMalloc and cudaFree, served by our
// allocator. It maps memory for the primary context of a card; a program that has made a context of
// its own gets the driver's. Nothing here is the result if it is none of ours: the driver is asked.
// Thread rule: any thread.
namespace memtrace::preload {

std::optional<CUresult> AllocateCached(CUdeviceptr* address, size_t bytes, const void* caller);

// Waits for the card first, as the driver's own does: whoever is given the memory next may be on
// another stream.
std::optional<CUresult> FreeCached(CUdeviceptr address);

std::optional<CUresult> RangeOfCached(CUdeviceptr* base, size_t* bytes, CUdeviceptr address);

// The card's primary context is reset: from then on the driver serves it.
void StopCaching(CUdevice device);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_CACHED_MEMORY_H_
