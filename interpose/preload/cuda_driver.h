// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_CUDA_DRIVER_H_
#define MEMTRACE_INTERPOSE_PRELOAD_CUDA_DRIVER_H_

// The driver's types. Its functions that are defined here are exported, under their own names.
#pragma GCC visibility push(default)
#include <cuda.h>
#undef cuGetProcAddress  // also hook its first version
extern "C" {
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
}
#pragma GCC visibility pop

#endif  // MEMTRACE_INTERPOSE_PRELOAD_CUDA_DRIVER_H_
