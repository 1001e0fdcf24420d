// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Copies in three dimensions: the driver's, under the runtime's names.
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The runtime's structs share their member names, and so do the driver's. Without an array all
// extents and positions are in bytes (driver_types.h). Each side is an array or a pointer, not
// both.
template <typename Driver, typename Runtime>
CUresult Translate(const Runtime* copy, Driver* driver) {
  *driver = {};  // NOLINT(bugprone-invalid-enum-default-initialization): set below
  const auto is_one = [](const cudaArray_t array, const cudaPitchedPtr& pointer) {
    return (array == nullptr) != (pointer.ptr == nullptr);
  };
  if (copy == nullptr || !is_one(copy->srcArray, copy->srcPtr) ||
      !is_one(copy->dstArray, copy->dstPtr))
    return CUDA_ERROR_INVALID_VALUE;
  if (copy->srcArray != nullptr || copy->dstArray != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  driver->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  driver->srcDevice = ToDevice(copy->srcPtr.ptr);
  driver->srcPitch = copy->srcPtr.pitch;
  driver->srcHeight = copy->srcPtr.ysize;
  driver->srcXInBytes = copy->srcPos.x;
  driver->srcY = copy->srcPos.y;
  driver->srcZ = copy->srcPos.z;
  driver->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  driver->dstDevice = ToDevice(copy->dstPtr.ptr);
  driver->dstPitch = copy->dstPtr.pitch;
  driver->dstHeight = copy->dstPtr.ysize;
  driver->dstXInBytes = copy->dstPos.x;
  driver->dstY = copy->dstPos.y;
  driver->dstZ = copy->dstPos.z;
  driver->WidthInBytes = copy->extent.width;
  driver->Height = copy->extent.height;
  driver->Depth = copy->extent.depth;
  return CUDA_SUCCESS;
}

// Translates the copy and calls `function` with the result.
template <typename Driver, typename Runtime, typename Function>
cudaError_t Copy(const Runtime* copy, Function function, const char* name = __builtin_FUNCTION()) {
  return InContext(
      [&] {
        Driver driver;
        const CUresult result = Translate(copy, &driver);
        return result == CUDA_SUCCESS ? function(&driver) : result;
      },
      name);
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  return Copy<CUDA_MEMCPY3D>(copy, [](const auto* driver) { return cuMemcpy3D(driver); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  return Copy<CUDA_MEMCPY3D>(
      copy, [stream](const auto* driver) { return cuMemcpy3DAsync(driver, stream); });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
  return Copy<CUDA_MEMCPY3D_PEER>(copy, [](const auto* driver) { return cuMemcpy3DPeer(driver); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
  return Copy<CUDA_MEMCPY3D_PEER>(
      copy, [stream](const auto* driver) { return cuMemcpy3DPeerAsync(driver, stream); });
}
