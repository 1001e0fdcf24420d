// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Devices, the current context, versions and errors.
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "interpose/simulated_card/runtime/runtime_api.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "interpose/simulated_card/spec/error_texts.h"
#include "interpose/simulated_card/wheels/stated_version.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Returns the version of the wheel that the process would have loaded without us.
int RuntimeVersion() {
  static const auto kVersion =
      static_cast<int>(StatedVersion(HeaderBesideTorch(kRuntimeHeader), {{"CUDART_VERSION", 1}})
                           .value_or(CUDART_VERSION));
  return kVersion;
}

thread_local cudaError_t last_error = cudaSuccess;
// The choice of cudaSetDevice, which counts while no context is current.
thread_local int chosen_device = 0;

// The runtime keeps one reference to each primary context that it ever used.
CUresult PrimaryContext(int device, CUcontext* context) {
  static Mutex mutex;
  static std::array<CUcontext, kMaxCards> contexts = {};
  const MutexLock lock(mutex);
  CUcontext& known = contexts[static_cast<std::size_t>(device)];
  if (known == nullptr) {
    CUcontext retained = nullptr;
    const CUresult result = cuDevicePrimaryCtxRetain(&retained, device);
    if (result != CUDA_SUCCESS) return result;
    known = retained;
  }
  *context = known;
  return CUDA_SUCCESS;
}

int Attribute(CUdevice_attribute attribute, int device) {
  int value = 0;
  cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

void FillLimits(cudaDeviceProp* p, int device) {
  const auto size = [device](CUdevice_attribute a) {
    return static_cast<std::size_t>(Attribute(a, device));
  };
  p->sharedMemPerBlock = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  p->sharedMemPerBlockOptin = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  p->sharedMemPerMultiprocessor = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  p->reservedSharedMemPerBlock = size(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  p->totalConstMem = size(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  p->memPitch = size(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  p->textureAlignment = size(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  p->texturePitchAlignment = size(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
  p->regsPerBlock = Attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device);
  p->regsPerMultiprocessor =
      Attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, device);
  p->warpSize = Attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
  p->maxThreadsPerBlock = Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
  p->maxThreadsPerMultiProcessor =
      Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
  p->maxBlocksPerMultiProcessor =
      Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, device);
  p->maxThreadsDim[0] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device);
  p->maxThreadsDim[1] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device);
  p->maxThreadsDim[2] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device);
  p->maxGridSize[0] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device);
  p->maxGridSize[1] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device);
  p->maxGridSize[2] = Attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device);
}

void FillFeatures(cudaDeviceProp* p, int device) {
  p->managedMemory = Attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, device);
  p->concurrentManagedAccess = Attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device);
  p->memoryPoolsSupported = Attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device);
  p->major = Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  p->minor = Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  p->multiProcessorCount = Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  p->l2CacheSize = Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  p->memoryBusWidth = Attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  p->asyncEngineCount = Attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, device);
  p->pciBusID = Attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device);
  p->canMapHostMemory = Attribute(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, device);
  p->concurrentKernels = Attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, device);
  p->ECCEnabled = Attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED, device);
  p->unifiedAddressing = Attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device);
  p->streamPrioritiesSupported = Attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, device);
  p->globalL1CacheSupported = Attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, device);
  p->localL1CacheSupported = Attribute(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, device);
  p->computePreemptionSupported =
      Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, device);
  p->cooperativeLaunch = Attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
  p->hostRegisterSupported = Attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, device);
}

CUresult FillProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = {};
  CUuuid uuid = {};
  const CUresult result = cuDeviceGetName(properties->name, sizeof(properties->name), device);
  if (result != CUDA_SUCCESS) return result;
  cuDeviceGetUuid(&uuid, device);
  static_assert(sizeof(properties->uuid) == sizeof(uuid));
  std::memcpy(&properties->uuid, &uuid, sizeof(uuid));
  cuDeviceTotalMem(&properties->totalGlobalMem, device);
  FillLimits(properties, device);
  FillFeatures(properties, device);
  FillOwnProperties(properties, device);
  return CUDA_SUCCESS;
}

}  // namespace

cudaError_t Remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

CUresult EnsureInitialized() { return cuInit(0); }

CUresult EnsureContext() {
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return CUDA_SUCCESS;
  CUresult result = EnsureInitialized();
  if (result == CUDA_SUCCESS) result = PrimaryContext(chosen_device, &current);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(current) : result;
}

}  // namespace memtrace::card

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return Initialized([&] { return cuDeviceGetCount(count); });
}

cudaError_t cudaGetDevice(int* device) {
  // Programs call this before every allocation, so the usual case is one call of the driver.
  const bool is_plain = device != nullptr && memtrace_card_calls_are_watched() == 0;
  if (is_plain && cuCtxGetDevice(device) == CUDA_SUCCESS) return cudaSuccess;
  return Initialized([&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = chosen_device;
    CUcontext current = nullptr;
    const CUresult result = cuCtxGetCurrent(&current);
    return result == CUDA_SUCCESS && current != nullptr ? cuCtxGetDevice(device) : result;
  });
}

// Since CUDA 12 this also makes the context.
cudaError_t cudaSetDevice(int device) {
  return Initialized([&] {
    CUdevice exists = 0;
    CUresult result = cuDeviceGet(&exists, device);
    if (result != CUDA_SUCCESS) return result;
    CUcontext context = nullptr;
    result = PrimaryContext(device, &context);
    if (result != CUDA_SUCCESS) return result;
    chosen_device = device;
    return cuCtxSetCurrent(context);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  // The numbers of both enums agree.
  return Initialized([&] {
    return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return Initialized([&] { return FillProperties(properties, device); });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return Initialized([&] {
    CUdevice exists = 0;
    const CUresult result = cuDeviceGet(&exists, device);
    if (result != CUDA_SUCCESS) return result;
    if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(Attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device)));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return Initialized([&] { return cuDeviceCanAccessPeer(can_access, device, peer); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return InContext([&] { return cuCtxGetStreamPriorityRange(lowest, highest); });
}

cudaError_t cudaDeviceSynchronize() {
  return InContext([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDriverGetVersion(int* version) { return Remember(cuDriverGetVersion(version)); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Remember(cudaErrorInvalidValue);
  *version = RuntimeVersion();
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = FindErrorText(error);
  return found == nullptr ? "unrecognized error code" : found->text;
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = FindErrorText(error);
  return found == nullptr ? "unrecognized error code" : found->runtime_name;
}

// c10 reads the status; an unknown name is not an error of the call.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** address,
                                             unsigned int version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const CUresult result =
      cuGetProcAddress(symbol, address, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return Remember(result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** address, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, address, static_cast<unsigned>(RuntimeVersion()),
                                          flags, status);
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }

cudaError_t cudaProfilerStop() { return cudaSuccess; }
