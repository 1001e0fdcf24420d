// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_12_CUDA_MAJOR_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_12_CUDA_MAJOR_H_

// Definitions specific to the runtime of CUDA 12. The runtime's sources use the names of CUDA 13. A
// plain name there means what CUDA 12 calls by a name with a number; CUDA's headers rename their
// functions by macros in the same way. The functions that have the plain names in CUDA 12 are in
// older_api.cc.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2

// The same for the driver: one driver serves both.
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuGraphAddDependencies cuGraphAddDependencies_v2
#define cuGraphGetEdges cuGraphGetEdges_v2
#define cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
#define cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
#define cuMemAdvise cuMemAdvise_v2
#define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#undef cuStreamGetCaptureInfo
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3
#define cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2

namespace memtrace::card {

// Architectures for which torch's CUDA 12 wheels contain code, of 2.6 (50 to 90) and later.
inline constexpr int kCompiledArchitectures[] = {50, 60, 70, 75, 80, 86, 90, 100, 120};

// The place of the runtime's header in its wheel.
inline constexpr const char* kRuntimeHeader = "cuda_runtime/include/cuda_runtime_api.h";

// Fills in the properties that CUDA 13 no longer has.
inline void FillOwnProperties(cudaDeviceProp* properties, int device) {
  const auto attribute = [device](CUdevice_attribute asked) {
    int value = 0;
    cuDeviceGetAttribute(&value, asked, device);
    return value;
  };
  properties->clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  properties->memoryClockRate = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  properties->computeMode = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  properties->kernelExecTimeoutEnabled = attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
  properties->deviceOverlap = properties->asyncEngineCount > 0 ? 1 : 0;
  properties->maxTexture1DLinear = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  properties->singleToDoublePrecisionPerfRatio =
      attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_12_CUDA_MAJOR_H_
