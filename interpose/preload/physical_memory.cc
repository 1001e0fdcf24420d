// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a card by handle, which may be mapped.
#include "interpose/preload/driver_call.h"
#include "interpose/preload/room.h"

using namespace memtrace::preload;  // NOLINT: this file defines C functions over that namespace

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemCreate);
  const DriverCall call;
  const bool on_card =
      properties != nullptr && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const auto create = [&] { return real(handle, bytes, properties, flags); };
  if (!call.is_told() || handle == nullptr || !on_card) return create();
  memtrace_outside memory{.size = 0,
                          .kind = MEMTRACE_OUTSIDE_PHYSICAL,
                          .device = properties->location.id,
                          .address = 0,
                          .bytes = bytes,
                          .stream = 0,
                          .caller = __builtin_return_address(0)};
  const CUresult result = CallWithRoom(
      call, [&] { return memory; }, create);
  if (result == CUDA_SUCCESS) memory.address = *handle;
  ReportAllocationResult(result, memory);
  return result;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  MEMTRACE_REAL_OR_RETURN(cuMemRelease);
  const DriverCall call;
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  // The core is told before the driver is called, as with every free. If the driver refuses, the
  // handle is invalid, and the core does not know it.
  if (core != nullptr) core->outside_released(handle);
  return real(handle);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemMap);
  const DriverCall call;
  const CUresult result = real(address, bytes, offset, handle, flags);
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  if (core != nullptr && result == CUDA_SUCCESS) core->outside_mapped(handle, address, bytes);
  return result;
}

// The core is told afterwards: the addresses stay reserved, so no other thread can get them
// meanwhile.
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  MEMTRACE_REAL_OR_RETURN(cuMemUnmap);
  const DriverCall call;
  const CUresult result = real(address, bytes);
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  if (core != nullptr && result == CUDA_SUCCESS) core->outside_unmapped(address, bytes);
  return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  MEMTRACE_REAL_OR_RETURN(cuMemRetainAllocationHandle);
  const DriverCall call;
  const CUresult result = real(handle, address);
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  if (core != nullptr && result == CUDA_SUCCESS) core->outside_retained(*handle);
  return result;
}
