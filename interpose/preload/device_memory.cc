// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a card by address, stream-ordered and managed memory too.
#include "interpose/preload/driver_call.h"

namespace memtrace::preload {
namespace {

// Of a function that exports under `name`: the driver's, or the error for "there is no driver".
#define MEMTRACE_REAL_OR_RETURN(name)          \
  const auto real = Real(Symbol::name, &name); \
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED

memtrace_outside Memory(memtrace_outside_kind kind, CUdeviceptr address, size_t bytes,
                        CUstream stream, const void* caller) {
  return {.size = 0,
          .kind = kind,
          .device = CurrentCard(),
          .address = address,
          .bytes = bytes,
          .stream = reinterpret_cast<uint64_t>(stream),
          .caller = caller};
}

// Asks the driver by `allocate`, which fills in *address.
template <typename Allocate>
CUresult Take(memtrace_outside_kind kind, const CUdeviceptr* address, size_t bytes, CUstream stream,
              const void* caller, Allocate allocate) {
  const DriverCall call;
  const CUresult result = allocate();
  if (call.is_told() && address != nullptr)
    NoteAnswer(result, Memory(kind, result == CUDA_SUCCESS ? *address : 0, bytes, stream, caller));
  return result;
}

}  // namespace
}  // namespace memtrace::preload

using namespace memtrace::preload;  // NOLINT: this file defines C functions over that namespace

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  MEMTRACE_REAL_OR_RETURN(cuMemAlloc_v2);
  return Take(MEMTRACE_OUTSIDE_DEVICE, address, bytes, nullptr, __builtin_return_address(0),
              [&] { return real(address, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocPitch_v2);
  const DriverCall call;
  const CUresult result = real(address, pitch, width, height, element);
  if (!call.is_told() || address == nullptr || pitch == nullptr) return result;
  const bool is_there = result == CUDA_SUCCESS;
  NoteAnswer(result,
             Memory(MEMTRACE_OUTSIDE_DEVICE, is_there ? *address : 0,
                    (is_there ? *pitch : width) * height, nullptr, __builtin_return_address(0)));
  return result;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  MEMTRACE_REAL_OR_RETURN(cuMemFree_v2);
  const DriverCall call;
  return GiveBack(call, address, [&] { return real(address); });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocManaged);
  return Take(MEMTRACE_OUTSIDE_MANAGED, address, bytes, nullptr, __builtin_return_address(0),
              [&] { return real(address, bytes, flags); });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  MEMTRACE_REAL_OR_RETURN(cuDevicePrimaryCtxReset_v2);
  const DriverCall call;
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  const CUresult result = real(device);
  if (core != nullptr && result == CUDA_SUCCESS) core->outside_reset(device);
  return result;
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocAsync);
  return Take(MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream, __builtin_return_address(0),
              [&] { return real(address, bytes, stream); });
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocAsync_ptsz);
  return Take(MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream, __builtin_return_address(0),
              [&] { return real(address, bytes, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocFromPoolAsync);
  return Take(MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream, __builtin_return_address(0),
              [&] { return real(address, bytes, pool, stream); });
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocFromPoolAsync_ptsz);
  return Take(MEMTRACE_OUTSIDE_STREAM_ORDERED, address, bytes, stream, __builtin_return_address(0),
              [&] { return real(address, bytes, pool, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemFreeAsync);
  const DriverCall call;
  return GiveBack(call, address, [&] { return real(address, stream); });
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  MEMTRACE_REAL_OR_RETURN(cuMemFreeAsync_ptsz);
  const DriverCall call;
  return GiveBack(call, address, [&] { return real(address, stream); });
}
