// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host that the driver pinned.
#include "interpose/preload/driver_call.h"

namespace memtrace::preload {
namespace {

// No card's: what is short is never a card.
void NotePinned(const DriverCall& call, CUresult result, memtrace_outside_kind kind,
                const void* address, size_t bytes, const void* caller) {
  if (!call.is_told() || result != CUDA_SUCCESS) return;
  NoteAnswer(result, {.size = 0,
                      .kind = kind,
                      .device = CurrentCard(),
                      .address = reinterpret_cast<uint64_t>(address),
                      .bytes = bytes,
                      .stream = 0,
                      .caller = caller});
}

}  // namespace
}  // namespace memtrace::preload

using namespace memtrace::preload;  // NOLINT: this file defines C functions over that namespace

CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  const auto real = Real(Symbol::cuMemAllocHost_v2, &cuMemAllocHost_v2);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const DriverCall call;
  const CUresult result = real(address, bytes);
  NotePinned(call, result, MEMTRACE_OUTSIDE_HOST, address != nullptr ? *address : nullptr, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  const auto real = Real(Symbol::cuMemHostAlloc, &cuMemHostAlloc);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const DriverCall call;
  const CUresult result = real(address, bytes, flags);
  NotePinned(call, result, MEMTRACE_OUTSIDE_HOST, address != nullptr ? *address : nullptr, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemFreeHost(void* address) {
  const auto real = Real(Symbol::cuMemFreeHost, &cuMemFreeHost);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const DriverCall call;
  return GiveBack(call, reinterpret_cast<uint64_t>(address), [&] { return real(address); });
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  const auto real = Real(Symbol::cuMemHostRegister_v2, &cuMemHostRegister_v2);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const DriverCall call;
  const CUresult result = real(address, bytes, flags);
  NotePinned(call, result, MEMTRACE_OUTSIDE_REGISTERED, address, bytes,
             __builtin_return_address(0));
  return result;
}

CUresult cuMemHostUnregister(void* address) {
  const auto real = Real(Symbol::cuMemHostUnregister, &cuMemHostUnregister);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const DriverCall call;
  return GiveBack(call, reinterpret_cast<uint64_t>(address), [&] { return real(address); });
}
