// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Two functions for two threads of Python: one keeps the interpreter's lock until the other, which
// gave it up, has used the driver. They meet only if nothing in the driver's calls wants the lock.
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "interpose/core/memtrace.h"

#define PROBE_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr auto kPatience = std::chrono::seconds(20);

std::atomic<bool> is_held = false;
std::atomic<bool> is_done = false;

bool Await(const std::atomic<bool>& flag) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!flag && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

// Finds the driver's functions as the runtime does.
template <typename Function>
Function* Driver(Function* /*declared*/, const char* name) {
  static void* const kDriver = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(kDriver, name));
}
#define DRIVER(function, name) Driver(&(function), name)

bool EnterContext() {
  CUcontext context = nullptr;
  return DRIVER(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")(&context, 0) ==
             CUDA_SUCCESS &&
         DRIVER(cuCtxSetCurrent, "cuCtxSetCurrent")(context) == CUDA_SUCCESS;
}

// Each call has a new stack, because the depth differs.
bool TakeByTheDriver(int depth) {
  if (depth > 0) return TakeByTheDriver(depth - 1) && depth < 100;
  CUdeviceptr address = 0;
  return DRIVER(cuMemAlloc, "cuMemAlloc_v2")(&address, 1 << 20) == CUDA_SUCCESS &&
         DRIVER(cuMemFree, "cuMemFree_v2")(address) == CUDA_SUCCESS;
}

// Driver calls map the memory and give it back.
bool TakeByTheAllocator() {
  void* address = nullptr;
  memtrace_out_of_memory failure{};
  failure.size = sizeof(failure);
  return memtrace_allocate(0, 200 << 20, 0, 0, &address, &failure) == MEMTRACE_OK &&
         memtrace_deallocate(address) == MEMTRACE_OK && memtrace_empty_cache() == MEMTRACE_OK;
}

}  // namespace

// Called with the lock held. Returns 1 if the other thread finished meanwhile.
PROBE_API int probe_hold() {
  is_held = true;
  return Await(is_done) ? 1 : 0;
}

// Called without the lock. Returns 1 if it was held all the time and all calls returned.
PROBE_API int probe_use_driver() {
  if (!Await(is_held)) return 0;
  bool is_answered = EnterContext() && TakeByTheAllocator();
  for (int depth = 0; depth < 20; ++depth) is_answered = TakeByTheDriver(depth) && is_answered;
  is_done = true;
  return is_answered ? 1 : 0;
}
