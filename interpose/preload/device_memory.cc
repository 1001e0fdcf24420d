// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a card by address, stream-ordered and managed memory too.
#include "interpose/preload/cached_memory.h"
#include "interpose/preload/driver_call.h"
#include "interpose/preload/room.h"

namespace memtrace::preload {
namespace {

// Managed memory is not the card's alone: the driver moves it to the host if the card is full.
constexpr bool MayMakeRoom(memtrace_outside_kind kind) { return kind != MEMTRACE_OUTSIDE_MANAGED; }

// Gets memory from the driver with `allocate`, which fills in *address.
template <typename Allocate>
CUresult Take(const DriverCall& call, memtrace_outside_kind kind, const CUdeviceptr* address,
              size_t bytes, CUstream stream, const void* caller, Allocate allocate) {
  const auto describe = [&] { return Outside(kind, 0, bytes, stream, caller); };
  const CUresult result = MayMakeRoom(kind) ? CallWithRoom(call, describe, allocate) : allocate();
  if (call.is_told() && address != nullptr)
    ReportAllocationResult(
        result, Outside(kind, result == CUDA_SUCCESS ? *address : 0, bytes, stream, caller));
  return result;
}

// Memory that our allocator gave the program goes back to it.
template <typename FreeByDriver>
CUresult Free(const DriverCall& call, CUdeviceptr address, FreeByDriver free) {
  if (call.is_told()) {
    if (const auto cached = FreeCached(address)) return *cached;
  }
  return GiveBack(call, address, free);
}

}  // namespace
}  // namespace memtrace::preload

using namespace memtrace::preload;  // NOLINT: this file defines C functions over that namespace

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  MEMTRACE_REAL_OR_RETURN(cuMemAlloc_v2);
  const DriverCall call;
  const void* caller = __builtin_return_address(0);
  if (call.is_told()) {
    if (const auto cached = AllocateCached(address, bytes, caller)) return *cached;
  }
  return Take(call, MEMTRACE_OUTSIDE_DEVICE, address, bytes, nullptr, caller,
              [&] { return real(address, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocPitch_v2);
  const DriverCall call;
  const void* caller = __builtin_return_address(0);
  const auto describe = [&] {
    return Outside(MEMTRACE_OUTSIDE_DEVICE, 0, width * height, nullptr, caller);
  };
  const CUresult result =
      CallWithRoom(call, describe, [&] { return real(address, pitch, width, height, element); });
  if (!call.is_told() || address == nullptr || pitch == nullptr) return result;
  const bool is_there = result == CUDA_SUCCESS;
  ReportAllocationResult(result, Outside(MEMTRACE_OUTSIDE_DEVICE, is_there ? *address : 0,
                                         (is_there ? *pitch : width) * height, nullptr, caller));
  return result;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  MEMTRACE_REAL_OR_RETURN(cuMemFree_v2);
  const DriverCall call;
  return Free(call, address, [&] { return real(address); });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocManaged);
  const DriverCall call;
  return Take(call, MEMTRACE_OUTSIDE_MANAGED, address, bytes, nullptr, __builtin_return_address(0),
              [&] { return real(address, bytes, flags); });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  MEMTRACE_REAL_OR_RETURN(cuDevicePrimaryCtxReset_v2);
  const DriverCall call;
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  if (core != nullptr) StopCaching(device);
  const CUresult result = real(device);
  if (core != nullptr && result == CUDA_SUCCESS) core->outside_reset(device);
  return result;
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocAsync);
  const DriverCall call;
  return Take(call, MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream,
              __builtin_return_address(0), [&] { return real(address, bytes, stream); });
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocAsync_ptsz);
  const DriverCall call;
  return Take(call, MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream,
              __builtin_return_address(0), [&] { return real(address, bytes, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocFromPoolAsync);
  const DriverCall call;
  return Take(call, MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream,
              __builtin_return_address(0), [&] { return real(address, bytes, pool, stream); });
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocFromPoolAsync_ptsz);
  const DriverCall call;
  return Take(call, MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream,
              __builtin_return_address(0), [&] { return real(address, bytes, pool, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemFreeAsync);
  const DriverCall call;
  return Free(call, address, [&] { return real(address, stream); });
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemFreeAsync_ptsz);
  const DriverCall call;
  return Free(call, address, [&] { return real(address, stream); });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  MEMTRACE_REAL_OR_RETURN(cuMemGetAddressRange_v2);
  const DriverCall call;
  if (call.is_told()) {
    if (const auto cached = RangeOfCached(base, bytes, address)) return *cached;
  }
  return real(base, bytes, address);
}
