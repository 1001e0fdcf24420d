// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/card_driver.h"

#include <dlfcn.h>

#include "interpose/bench/driver_call.h"

namespace memtrace::bench {
namespace {

constexpr int kMemoryType = 2;   // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kDevice = 2;  // CU_MEMORYTYPE_DEVICE

}  // namespace

bool CardDriver::Open() {
  library_ = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  int device = 0;
  return library_ != nullptr && CallDriver<int(unsigned)>(library_, "cuInit", 0U) == 0 &&
         CallDriver<int(int*, int)>(library_, "cuDeviceGet", &device, 0) == 0 &&
         CallDriver<int(void**, int)>(library_, "cuDevicePrimaryCtxRetain", &context_, device) == 0;
}

void CardDriver::Enter() const { CallDriver<int(void*)>(library_, "cuCtxSetCurrent", context_); }

void* CardDriver::MakeStream() const {
  constexpr unsigned kNonBlocking = 1;
  void* stream = nullptr;
  CallDriver<int(void**, unsigned)>(library_, "cuStreamCreate", &stream, kNonBlocking);
  return stream;
}

void* CardDriver::Allocate(size_t bytes) const {
  uint64_t address = 0;
  CallDriver<int(uint64_t*, size_t)>(library_, "cuMemAlloc_v2", &address, bytes);
  return reinterpret_cast<void*>(address);
}

void CardDriver::Free(void* address) const {
  CallDriver<int(uint64_t)>(library_, "cuMemFree_v2", reinterpret_cast<uint64_t>(address));
}

bool CardDriver::IsOnCard(uintptr_t address) const {
  unsigned type = 0;
  return CallDriver<int(void*, int, uint64_t)>(library_, "cuPointerGetAttribute",
                                               static_cast<void*>(&type), kMemoryType,
                                               uint64_t{address}) == 0 &&
         type == kDevice;
}

uint64_t CardDriver::FreeBytes() const {
  size_t free = 0;
  size_t total = 0;
  CallDriver<int(size_t*, size_t*)>(library_, "cuMemGetInfo_v2", &free, &total);
  return free;
}

}  // namespace memtrace::bench
