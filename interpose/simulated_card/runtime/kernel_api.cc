// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Registration and launch of kernels. Launches are checked, counted by name and not carried out.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/runtime/runtime_api.h"
#include "interpose/simulated_card/work/occupancy.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The arguments of <<<...>>>, kept for the stub that nvcc writes.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<LaunchConfiguration> pushed_configurations;

int CurrentAttribute(CUdevice_attribute attribute) {
  CUdevice device = 0;
  int value = 0;
  if (EnsureContext() == CUDA_SUCCESS && cuCtxGetDevice(&device) == CUDA_SUCCESS) {
    cuDeviceGetAttribute(&value, attribute, device);
  }
  return value;
}

cudaError_t Launch(const void* function, const dim3& grid, const dim3& block,
                   std::size_t shared_bytes, cudaStream_t stream,
                   const char* name = __builtin_FUNCTION()) {
  const auto launch = [&] {
    if (!IsValid({grid.x, grid.y, grid.z, block.x, block.y, block.z}))
      return static_cast<CUresult>(cudaErrorInvalidConfiguration);
    const memtrace_card_launch shape = {.grid = {grid.x, grid.y, grid.z},
                                        .block = {block.x, block.y, block.z},
                                        .shared_bytes = static_cast<unsigned>(shared_bytes)};
    return static_cast<CUresult>(memtrace_card_launch_kernel(function, stream, &shape));
  };
  return InContext(launch, name);
}

// Returns the newest architecture, among those with code in torch's wheels, that is not newer than
// the card. CUB and memory-efficient attention choose by it, so it must be one that was compiled.
int CompiledArchitecture() {
  const int card = CurrentAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                   CurrentAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const auto newer =
      std::upper_bound(std::begin(kCompiledArchitectures), std::end(kCompiledArchitectures), card);
  return newer == std::begin(kCompiledArchitectures) ? kCompiledArchitectures[0]
                                                     : *std::prev(newer);
}

Multiprocessor CurrentMultiprocessor() {
  return {.threads = CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
          .registers = CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
          .blocks = CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
          .shared_bytes = static_cast<std::size_t>(
              CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)),
          .reserved_shared_bytes = static_cast<std::size_t>(
              CurrentAttribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))};
}

}  // namespace
}  // namespace memtrace::card

// Called by code that nvcc generates (crt/host_runtime.h declares them for nvcc only).
#pragma GCC visibility push(default)
extern "C" {

// A fat binary's handle only has to be unique. Its code is never read.
void** __cudaRegisterFatBinary(void*) { return static_cast<void**>(std::calloc(1, sizeof(void*))); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) { std::free(handle); }

char __cudaInitModule(void**) { return 0; }

void __cudaRegisterFunction(void**, const char* host_function, char*, const char* device_name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  memtrace_card_register_kernel(host_function, device_name);
}

void __cudaRegisterVar(void**, char* shadow, char*, const char*, int, std::size_t bytes, int, int) {
  memtrace_card_register_variable(shadow, bytes);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  pushed_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (pushed_configurations.empty()) return Remember(cudaErrorMissingConfiguration);
  const LaunchConfiguration popped = pushed_configurations.back();
  pushed_configurations.pop_back();
  *grid = popped.grid;
  *block = popped.block;
  *shared_bytes = popped.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = popped.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return Launch(kernel, grid, block, shared_bytes, stream, "cudaLaunchKernel");
}

}  // extern "C"
#pragma GCC visibility pop

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return Launch(function, grid, block, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void**) {
  if (config == nullptr) return Remember(cudaErrorInvalidValue);
  return Launch(function, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                config->stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void**,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  return Launch(function, grid, block, shared_bytes, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  return InContext([&] {
    if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *attributes = {};
    attributes->maxThreadsPerBlock = CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attributes->numRegs = kRegistersPerThread;
    attributes->ptxVersion = CompiledArchitecture();
    attributes->binaryVersion = attributes->ptxVersion;
    attributes->maxDynamicSharedSizeBytes =
        CurrentAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    attributes->preferredShmemCarveout = -1;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes,
                                                                   unsigned int) {
  return InContext([&] {
    if (blocks == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = ActiveBlocks(CurrentMultiprocessor(), block_size, dynamic_shared_bytes);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                dynamic_shared_bytes, 0);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  if (clusters == nullptr) return Remember(cudaErrorInvalidValue);
  *clusters = 1;
  return cudaSuccess;
}
