// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/uncached_memory.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

namespace memtrace::shim {
namespace {

struct Given {
  std::mutex mutex;
  std::unordered_set<void*> addresses;

  // Never destroyed: memory may be freed while the process ends.
  static Given& Get() {
    static auto* given = new Given;
    return *given;
  }
};

std::atomic<bool> is_on = true;

// A capture in progress must not be invalidated.
using CaptureMode = c10::cuda::CUDAStreamCaptureModeGuard;

}  // namespace

bool IsCachingOff() {
  static const bool kNever = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr;
  return kNever || !is_on.load(std::memory_order_relaxed);
}

void SetCaching(bool on) { is_on = on; }

void* AllocateUncached(std::size_t bytes) {
  void* address = nullptr;
  const CaptureMode relaxed(cudaStreamCaptureModeRelaxed);
  C10_CUDA_CHECK(cudaMalloc(&address, bytes));
  Given& given = Given::Get();
  const std::lock_guard lock(given.mutex);
  given.addresses.insert(address);
  return address;
}

bool FreeUncached(void* address) {
  Given& given = Given::Get();
  {
    const std::lock_guard lock(given.mutex);
    if (given.addresses.erase(address) == 0) return false;
  }
  const CaptureMode relaxed(cudaStreamCaptureModeRelaxed);
  C10_CUDA_CHECK_WARN(cudaFree(address));
  return true;
}

}  // namespace memtrace::shim
