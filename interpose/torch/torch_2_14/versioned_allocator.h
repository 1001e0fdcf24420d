// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_ALLOCATOR_H_

#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "interpose/core/memtrace.h"
#include "interpose/torch/allocation_history.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/memory_listeners.h"
#include "interpose/torch/uncached_memory.h"
#include "oom_rejections.h"

namespace memtrace::shim {

// What torch's allocator interface has beyond that of 2.11: since 2.12 one more pure virtual and
// getContextForPointer, since 2.14 the rest. markCaptureBegin and markCaptureEnd stay torch's
// no-ops: our allocator asks the driver which streams are being captured.
class VersionedAllocator : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  void attachOomRejectionObserver(
      c10::cuda::CUDACachingAllocator::OomRejectionObserver observer) override {
    OomRejections::Get().Attach(std::move(observer));
  }

  std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* address) override {
    return AllocationHistory::Get().OfBlock(DeviceOf(address), reinterpret_cast<size_t>(address));
  }

  // In what lies free, as torch does; nothing is mapped for it.
  c10::DataPtr allocateWithAddress(size_t bytes, void* address) override {
    constexpr size_t kAlignment = 512;
    TORCH_CHECK(!IsCachingOff(),
                "Exact-address allocation is only supported by the native CUDA caching allocator");
    TORCH_CHECK(reinterpret_cast<uintptr_t>(address) % kAlignment == 0,
                "mallocWithAddress: addr must be aligned to kMinBlockSize (", kAlignment,
                " bytes), got ", address);
    c10::DeviceIndex device = 0;
    C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
    void* placed = nullptr;
    if (bytes > 0) {
      placed = AllocateOrThrow(device, bytes, c10::cuda::getCurrentCUDAStream(device), address);
      TellAllocated(placed, bytes, device);
    }
    return {placed, placed, raw_deleter(), c10::Device(c10::kCUDA, device)};
  }

  bool supportsUserMetadata() override { return true; }

  void annotateMemory(const void* address, const std::string& metadata) override {
    AllocationHistory& history = AllocationHistory::Get();
    if (address == nullptr || !history.is_recording()) return;
    const std::string before = AllocationHistory::UserMetadata();
    AllocationHistory::SetUserMetadata(metadata);
    const AllocationHistory::Caller caller(AllocationHistory::Level::ALLOC);
    history.Note(AllocationHistory::Entry::ANNOTATE, DeviceOf(address),
                 reinterpret_cast<size_t>(address), 0, nullptr, {0, 0});
    AllocationHistory::SetUserMetadata(before);
  }

 private:
  static c10::DeviceIndex DeviceOf(const void* address) {
    cudaPointerAttributes attributes{};
    C10_CUDA_CHECK(cudaPointerGetAttributes(&attributes, address));
    return static_cast<c10::DeviceIndex>(attributes.device);
  }
};

// What its statistics have beyond those of 2.11.
inline void AddVersionedStatistics(c10::CachingDeviceAllocator::DeviceStats& stats,
                                   c10::DeviceIndex device) {
  const auto visit = [](void* user, const memtrace_pool* pool, const memtrace_statistic* reserved) {
    auto& by_pool = static_cast<c10::CachingDeviceAllocator::DeviceStats*>(user)
                        ->reserved_bytes_by_private_pools[{pool->first, pool->second}];
    for (size_t i = 0; i < by_pool.size(); ++i) {
      by_pool[i].current = reserved[i].current;
      by_pool[i].peak = reserved[i].peak;
      by_pool[i].allocated = reserved[i].allocated;
      by_pool[i].freed = reserved[i].freed;
    }
  };
  ThrowUnlessOk(memtrace_visit_pools(device, visit, &stats));
  stats.num_oom_rejections = OomRejections::Get().Count(device);
}

// From how many bytes of the card on a request is rejected at once; 0: never.
inline uint64_t RejectAbove(c10::DeviceIndex device) {
  using c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;
  if (C10_LIKELY(!CUDAAllocatorConfig::throw_on_cudamalloc_oom())) return 0;
  return OomRejections::Get().Limit(device, CUDAAllocatorConfig::per_process_memory_fraction());
}
inline void NoteRejection(const memtrace_out_of_memory& rejection) {
  OomRejections::Get().Note(rejection);
}
inline void ForgetRejections(c10::DeviceIndex device) { OomRejections::Get().Forget(device); }

// With which torch registers its own allocator; the same is needed to replace it (seen in 2.15: a
// lower one leaves torch.accelerator.memory_* with torch's).
constexpr uint8_t kRegistrationPriority = 1;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_2_14_VERSIONED_ALLOCATOR_H_
