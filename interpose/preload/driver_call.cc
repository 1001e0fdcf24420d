// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/driver_call.h"

#include <atomic>

#include "interpose/preload/settings.h"

namespace memtrace::preload {

constinit thread_local bool DriverCall::is_inside = false;

bool DriverCall::IsOff() { return IsSwitchedOff(); }

int CurrentCard() {
  static std::atomic<void*> known;
  void* ask = known.load(std::memory_order_relaxed);
  if (ask == nullptr) {
    ask = FindOther("cuCtxGetDevice");
    known.store(ask, std::memory_order_relaxed);
  }
  CUdevice device = 0;
  if (ask == nullptr || reinterpret_cast<decltype(&cuCtxGetDevice)>(ask)(&device) != CUDA_SUCCESS)
    return 0;
  return device;
}

void ReportAllocationResult(CUresult result, memtrace_outside memory) {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) return;
  const KeptErrno kept;
  const Core* core = StartedCore();
  if (core == nullptr) return;
  memory.size = sizeof(memory);
  result == CUDA_SUCCESS ? core->outside_allocated(&memory) : core->outside_failed(&memory);
}

}  // namespace memtrace::preload
