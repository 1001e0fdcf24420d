// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host that the driver pinned.
#include "interpose/preload/driver_call.h"

namespace memtrace::preload {
namespace {

// Notes successful requests only: a failure is for lack of host memory, never of a card's.
void NotePinned(const DriverCall& call, CUresult result, memtrace_outside_kind kind,
                const void* address, size_t bytes, const void* caller) {
  if (!call.is_told() || result != CUDA_SUCCESS) return;
  ReportAllocationResult(
      result, Outside(kind, reinterpret_cast<uint64_t>(address), bytes, nullptr, caller));
}

}  // namespace
}  // namespace memtrace::preload

using namespace memtrace::preload;  // NOLINT: this file defines C functions over that namespace

CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  MEMTRACE_REAL_OR_RETURN(cuMemAllocHost_v2);
  const DriverCall call;
  const CUresult result = real(address, bytes);
  NotePinned(call, result, MEMTRACE_OUTSIDE_HOST, address != nullptr ? *address : nullptr, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemHostAlloc);
  const DriverCall call;
  const CUresult result = real(address, bytes, flags);
  NotePinned(call, result, MEMTRACE_OUTSIDE_HOST, address != nullptr ? *address : nullptr, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemFreeHost(void* address) {
  MEMTRACE_REAL_OR_RETURN(cuMemFreeHost);
  const DriverCall call;
  return GiveBack(call, reinterpret_cast<uint64_t>(address), [&] { return real(address); });
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  MEMTRACE_REAL_OR_RETURN(cuMemHostRegister_v2);
  const DriverCall call;
  const CUresult result = real(address, bytes, flags);
  NotePinned(call, result, MEMTRACE_OUTSIDE_REGISTERED, address, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemHostUnregister(void* address) {
  MEMTRACE_REAL_OR_RETURN(cuMemHostUnregister);
  const DriverCall call;
  return GiveBack(call, reinterpret_cast<uint64_t>(address), [&] { return real(address); });
}
