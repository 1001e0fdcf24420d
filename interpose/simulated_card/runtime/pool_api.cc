// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Stream-ordered, managed and plane-shaped memory, and what cards can do with each other's: the
// driver's, under the runtime's names.
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUdeviceptr* ToDevice(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

// The numbers of both enums agree.
CUmemPool_attribute ToDriver(cudaMemPoolAttr attribute) {
  return static_cast<CUmemPool_attribute>(attribute);
}

CUmemLocation ToDriver(const cudaMemLocation& location) {
  CUmemLocation driver = {};
  driver.type = static_cast<CUmemLocationType>(location.type);
  driver.id = location.id;
  return driver;
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return InContext([&] { return cuMemAllocAsync(ToDevice(pointer), bytes, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return InContext([&] { return cuMemAllocFromPoolAsync(ToDevice(pointer), bytes, pool, stream); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return InContext([&] { return cuMemFreeAsync(ToDevice(pointer), stream); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return InContext([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return InContext([&] { return cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return InContext([&] { return cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  // The structs agree member by member.
  return InContext(
      [&] { return cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return InContext([&] { return cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  return InContext([&] { return cuMemPoolTrimTo(pool, keep); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return InContext([&] { return cuMemPoolSetAttribute(pool, ToDriver(attribute), value); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return InContext([&] { return cuMemPoolGetAttribute(pool, ToDriver(attribute), value); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptors,
                                 std::size_t count) {
  return InContext([&] {
    return cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(descriptors), count);
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return InContext([&] {
    return cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool,
                              reinterpret_cast<CUmemLocation*>(location));
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
  return InContext([&] { return cuMemAllocManaged(ToDevice(pointer), bytes, flags); });
}

cudaError_t cudaMemPrefetchAsync(const void* begin, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  return InContext([&] {
    return cuMemPrefetchAsync(ToDevice(begin), bytes, ToDriver(location), flags, stream);
  });
}

cudaError_t cudaMemAdvise(const void* begin, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return InContext([&] {
    return cuMemAdvise(ToDevice(begin), bytes, static_cast<CUmem_advise>(advice),
                       ToDriver(location));
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* begin, std::size_t bytes,
                                     unsigned int flags) {
  return InContext([&] { return cuStreamAttachMemAsync(stream, ToDevice(begin), bytes, flags); });
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return InContext([&] {
    return cuMemsetD2D8Async(ToDevice(to), pitch, static_cast<unsigned char>(value), width, height,
                             stream);
  });
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return InContext([&] { return cuMemcpy(ToDevice(to), ToDevice(from), bytes); });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return InContext([&] {
    CUdevice exists = 0;
    const CUresult result = cuDeviceGet(&exists, peer);
    return result == CUDA_SUCCESS ? cuCtxEnablePeerAccess(nullptr, flags) : result;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
  return InContext([] { return cuCtxDisablePeerAccess(nullptr); });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  return Initialized([&] {
    return cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), device,
                                   peer);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return InContext([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return InContext([&] { return cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return InContext([] { return cuCtxResetPersistingL2Cache(); });
}
