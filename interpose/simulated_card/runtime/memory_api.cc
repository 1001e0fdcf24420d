// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory and copies. The direction that a copy states is not needed: addresses tell.
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUresult CopyPlane(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, CUstream stream) {
  if (width > to_pitch || width > from_pitch) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY2D copy = {};  // NOLINT(bugprone-invalid-enum-default-initialization): set below
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = ToDevice(from);
  copy.srcPitch = from_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = ToDevice(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return cuMemcpy2DAsync(&copy, stream);
}

// Since CUDA 11, unregistered host memory is not an error.
CUresult FillAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *attributes = {};
  unsigned type = 0;
  const CUdeviceptr address = ToDevice(pointer);
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    return CUDA_SUCCESS;
  }
  bool managed = false;
  cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  const bool on_card = type == CU_MEMORYTYPE_DEVICE;
  attributes->type = managed   ? cudaMemoryTypeManaged
                     : on_card ? cudaMemoryTypeDevice
                               : cudaMemoryTypeHost;
  attributes->devicePointer = const_cast<void*>(pointer);
  attributes->hostPointer = on_card ? nullptr : const_cast<void*>(pointer);
  return cuPointerGetAttribute(&attributes->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
}

}  // namespace
}  // namespace memtrace::card

// Unlike in cuMemAlloc, 0 bytes are valid.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return InContext([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr begin = 0;
    const CUresult result = bytes == 0 ? CUDA_SUCCESS : cuMemAlloc(&begin, bytes);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
    if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(begin);
    return result;
  });
}

cudaError_t cudaFree(void* pointer) {
  return InContext(
      [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFree(ToDevice(pointer)); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return InContext([&] { return cuMemGetInfo(free, total); });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return InContext([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : cuMemHostAlloc(pointer, bytes, flags);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}

cudaError_t cudaFreeHost(void* pointer) {
  return InContext([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return InContext([&] { return cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return InContext([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned int flags) {
  return InContext([&] {
    return cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device_pointer), pointer,
                                     flags);
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return InContext([&] { return FillAttributes(attributes, pointer); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return InContext([&] { return cuMemcpy(ToDevice(to), ToDevice(from), bytes); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return InContext([&] { return cuMemcpyAsync(ToDevice(to), ToDevice(from), bytes, stream); });
}

// The cards are ignored, because unified addresses identify them.
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return InContext([&] { return cuMemcpyAsync(ToDevice(to), ToDevice(from), bytes, stream); });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
  return InContext(
      [&] { return CopyPlane(to, to_pitch, from, from_pitch, width, height, stream); });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return InContext(
      [&] { return cuMemsetD8(ToDevice(to), static_cast<unsigned char>(value), bytes); });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return InContext([&] {
    return cuMemsetD8Async(ToDevice(to), static_cast<unsigned char>(value), bytes, stream);
  });
}
