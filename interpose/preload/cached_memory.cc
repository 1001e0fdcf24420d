// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/cached_memory.h"

#include <atomic>

#include "interpose/preload/core_library.h"
#include "interpose/preload/driver_call.h"
#include "interpose/preload/settings.h"

namespace memtrace::preload {
namespace {

constexpr int kMostCards = 64;

struct CardState {
  std::atomic<CUcontext> primary;
  std::atomic<bool> is_stopped;
};
CardState cards[kMostCards];

// A driver function that is not hooked; looked up once.
template <typename Function>
class Other {
 public:
  constexpr explicit Other(const char* name) : name_(name) {}
  Function* Get() {
    void* known = found_.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = FindOther(name_);
      found_.store(known, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function*>(known);
  }

 private:
  const char* const name_;
  std::atomic<void*> found_{nullptr};
};

Other<decltype(cuCtxGetCurrent)> get_current("cuCtxGetCurrent");
Other<decltype(cuCtxSynchronize)> synchronize("cuCtxSynchronize");
Other<decltype(cuDevicePrimaryCtxRetain)> retain_primary("cuDevicePrimaryCtxRetain");

// Returns the primary context, which is never released, because our allocator's memory is in it.
CUcontext PrimaryOf(int device) {
  std::atomic<CUcontext>& known = cards[device].primary;
  CUcontext primary = known.load(std::memory_order_acquire);
  if (primary != nullptr || retain_primary.Get() == nullptr) return primary;
  if (retain_primary.Get()(&primary, device) != CUDA_SUCCESS) return nullptr;
  known.store(primary, std::memory_order_release);
  return primary;
}

bool IsServed(int device) {
  if (device < 0 || device >= kMostCards || cards[device].is_stopped) return false;
  CUcontext current = nullptr;
  if (get_current.Get() == nullptr || get_current.Get()(&current) != CUDA_SUCCESS) return false;
  return current != nullptr && current == PrimaryOf(device);
}

}  // namespace

std::optional<CUresult> AllocateCached(CUdeviceptr* address, size_t bytes, const void* caller) {
  if (!IsCacheWanted() || address == nullptr || bytes == 0) return std::nullopt;
  const KeptErrno kept;
  const int device = CurrentCard();
  if (!IsServed(device)) return std::nullopt;
  const Core* core = StartedCore();
  if (core == nullptr) return std::nullopt;
  void* given = nullptr;
  const int status = core->allocate(device, bytes, 0, core->capture_native_context(caller), &given,
                                    /*out_of_memory=*/nullptr);
  if (status == MEMTRACE_OUT_OF_MEMORY) return CUDA_ERROR_OUT_OF_MEMORY;
  if (status != MEMTRACE_OK) return std::nullopt;
  *address = reinterpret_cast<CUdeviceptr>(given);
  return CUDA_SUCCESS;
}

std::optional<CUresult> FreeCached(CUdeviceptr address) {
  const Core* core = IsCacheWanted() ? CoreIfStarted() : nullptr;
  if (core == nullptr || address == 0 || synchronize.Get() == nullptr) return std::nullopt;
  const KeptErrno kept;
  void* base = nullptr;
  uint64_t bytes = 0;
  auto* given = reinterpret_cast<void*>(address);
  if (core->base_allocation(given, &base, &bytes) != MEMTRACE_OK) return std::nullopt;
  if (base != given) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult waited = synchronize.Get()(); waited != CUDA_SUCCESS) return waited;
  return core->deallocate(given) == MEMTRACE_OK ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::optional<CUresult> RangeOfCached(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  const Core* core = IsCacheWanted() ? CoreIfStarted() : nullptr;
  if (core == nullptr) return std::nullopt;
  void* begin = nullptr;
  uint64_t size = 0;
  auto* given = reinterpret_cast<void*>(address);
  if (core->base_allocation(given, &begin, &size) != MEMTRACE_OK) return std::nullopt;
  if (base != nullptr) *base = reinterpret_cast<CUdeviceptr>(begin);
  if (bytes != nullptr) *bytes = size;
  return CUDA_SUCCESS;
}

void StopCaching(CUdevice device) {
  if (device >= 0 && device < kMostCards) cards[device].is_stopped = true;
}

}  // namespace memtrace::preload
