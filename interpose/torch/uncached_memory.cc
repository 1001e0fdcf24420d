// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/uncached_memory.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <cuda_runtime_api.h>

#include <unordered_set>

#include "base/environment.h"
#include "base/mutex.h"

namespace memtrace::shim {
namespace {

struct Given {
  Mutex mutex;
  std::unordered_set<void*> addresses;

  // Never destroyed, because memory may be freed while the process ends.
  static Given& Get() {
    static auto* given = new Given;
    return *given;
  }
};

// A capture in progress must not be invalidated.
using CaptureMode = c10::cuda::CUDAStreamCaptureModeGuard;

}  // namespace

void SetCaching(bool on) { is_caching_off = !on || env::Pointer(env::kTorchNoCaching) != nullptr; }

void* AllocateUncached(std::size_t bytes) {
  void* address = nullptr;
  const CaptureMode relaxed(cudaStreamCaptureModeRelaxed);
  C10_CUDA_CHECK(cudaMalloc(&address, bytes));
  Given& given = Given::Get();
  const MutexLock lock(given.mutex);
  given.addresses.insert(address);
  return address;
}

bool FreeUncached(void* address) {
  Given& given = Given::Get();
  {
    const MutexLock lock(given.mutex);
    if (given.addresses.erase(address) == 0) return false;
  }
  const CaptureMode relaxed(cudaStreamCaptureModeRelaxed);
  C10_CUDA_CHECK_WARN(cudaFree(address));
  return true;
}

}  // namespace memtrace::shim
