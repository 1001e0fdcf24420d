// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/core_calls.h"

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/torch/allocation_history.h"
#include "interpose/torch/allocator_settings.h"
#include "interpose/torch/host_values/host_values.h"
#include "interpose/torch/out_of_memory.h"
#include "versioned_errors.h"
#include "versioned_rejections.h"

namespace memtrace::shim {
namespace {

using c10::cuda::CUDACachingAllocator::OutOfMemoryObserver;

struct Observers {
  Mutex mutex;
  std::vector<OutOfMemoryObserver> all;

  // Never destroyed, because memory may be requested while the process ends.
  static Observers& Get() {
    static auto* observers = new Observers;
    return *observers;
  }
};

void NotifyOutOfMemory(const memtrace_out_of_memory& out_of_memory) {
  c10::reportOutOfMemoryToProfiler(
      static_cast<int64_t>(out_of_memory.requested), out_of_memory.live_allocated,
      out_of_memory.reserved,
      c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(out_of_memory.device)));
  std::vector<OutOfMemoryObserver> observers;
  {
    const MutexLock lock(Observers::Get().mutex);
    observers = Observers::Get().all;
  }
  const size_t total = std::min<size_t>(out_of_memory.limit, out_of_memory.device_total);
  for (const auto& observer : observers) {
    observer(out_of_memory.device, out_of_memory.requested, total, out_of_memory.device_free);
  }
}

// torch's own callback gives back tensors that other processes no longer use.
void RunFreeMemoryCallbacks() {
  for (const std::string& name : c10::FreeCudaMemoryCallbacksRegistry()->Keys()) {
    c10::FreeCudaMemoryCallbacksRegistry()->Create(name)->Execute();
  }
}

// Returns null if there is no memory left; that is not reported.
void* TryAllocate(memtrace_request request) {
  request.is_trial = 1;
  void* address = nullptr;
  const int status = memtrace_allocate_request(&request, &address, /*out_of_memory=*/nullptr);
  if (status != MEMTRACE_OUT_OF_MEMORY) ThrowUnlessOk(status);
  return address;
}

// Returns free memory of the stream, after finished frees are completed. Returns null if there is
// none or on any failure, which the request that follows reports.
void* AllocateFree(memtrace_request request) {
  request.only_free = 1;
  void* address = nullptr;
  static_cast<void>(memtrace_allocate_request(&request, &address, /*out_of_memory=*/nullptr));
  return address;
}

// False while the stream, or one that a request on it would wait for, is captured, because a
// finalizer may do what a capture forbids.
bool MayCollect(uint64_t stream) {
  static const bool kIsWanted = env::Is(env::kCollect, "1");
  if (!kIsWanted) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(reinterpret_cast<cudaStream_t>(stream), &status) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // torch would report it for a later call of its own
    return false;
  }
  return status == cudaStreamCaptureStatusNone;
}

// Calls the collector only if the request would fail without it. Returns null if that does not
// help.
void* AllocateAfterCollection(const memtrace_request& request) {
  if (!MayCollect(request.stream)) return nullptr;
  if (void* address = TryAllocate(request); address != nullptr) return address;
  return memtrace_collect() != 0 ? TryAllocate(request) : nullptr;
}

[[noreturn]] void TellAndThrow(const memtrace_request& request,
                               const memtrace_out_of_memory& out_of_memory) {
  if (out_of_memory.is_rejected != 0) NoteRejection(out_of_memory);
  AllocationHistory::Get().Note(AllocationHistory::Entry::OOM,
                                static_cast<c10::DeviceIndex>(request.device),
                                out_of_memory.device_free, out_of_memory.allocated,
                                reinterpret_cast<void*>(request.stream), {0, 0});
  NotifyOutOfMemory(out_of_memory);
  ThrowOutOfMemory(out_of_memory);
}

// The callbacks are asked to free memory if no free memory is large enough, as in torch, before the
// driver is asked for more.
C10_NOINLINE void* AllocateWithCallbacksOrThrow(const memtrace_request& request) {
  if (request.at == 0) {
    if (void* address = AllocateFree(request); address != nullptr) return address;
    RunFreeMemoryCallbacks();
    if (void* address = AllocateAfterCollection(request); address != nullptr) return address;
  }
  memtrace_out_of_memory out_of_memory{};
  out_of_memory.size = sizeof(out_of_memory);
  void* address = nullptr;
  const int status = memtrace_allocate_request(&request, &address, &out_of_memory);
  if (status == MEMTRACE_OUT_OF_MEMORY) TellAndThrow(request, out_of_memory);
  TORCH_CHECK(request.at == 0 || status != MEMTRACE_INVALID_ARGUMENT,
              "Could not allocate CUDA storage at exact address ",
              reinterpret_cast<void*>(request.at));
  ThrowUnlessOk(status);
  return address;
}

}  // namespace

void ThrowUnlessOk(int status) {
  if (C10_LIKELY(status == MEMTRACE_OK)) return;
  const int result = memtrace_last_driver_result();
  TORCH_CHECK(result != 0, "memtrace: ", memtrace_last_error());
  // The text is that of C10_CUDA_DRIVER_CHECK.
  ThrowDriverError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, result,
                   std::string("CUDA driver error: ") + memtrace_last_error());
}

void* AllocateOrThrow(int device, size_t bytes, cudaStream_t stream, void* at) {
  static const bool kIsRecorded = memtrace_is_recorded() != 0;
  // Must come before any lock, because it takes the interpreter's lock.
  const uint64_t context = kIsRecorded ? memtrace_capture_context() : 0;
  const AllocationHistory::Caller caller(AllocationHistory::Level::STATE);
  const size_t at_least = BytesByDivisions(bytes);
  void* address = nullptr;
  if (C10_LIKELY(at == nullptr)) {
    address = memtrace_take_free(device, bytes, at_least, StreamValue(stream), context);
  }
  if (C10_UNLIKELY(address == nullptr)) {
    address = AllocateWithCallbacksOrThrow(
        {.size = sizeof(memtrace_request),
         .device = device,
         .bytes = bytes,
         .at_least = at_least,
         .stream = StreamValue(stream),
         .context = context,
         .is_trial = 0,
         .reject_above = RejectAbove(static_cast<c10::DeviceIndex>(device)),
         .at = reinterpret_cast<uint64_t>(at),
         .is_not_free = at == nullptr ? 1 : 0,
         .only_free = 0});
  }
  ForgetFreshMemory(reinterpret_cast<uint64_t>(address), bytes);
  return address;
}

void AttachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  const MutexLock lock(Observers::Get().mutex);
  Observers::Get().all.push_back(std::move(observer));
}

void* BaseAllocationOrThrow(void* address, size_t* bytes) {
  void* base = nullptr;
  uint64_t size = 0;
  TORCH_CHECK(memtrace_base_allocation(address, &base, &size) == MEMTRACE_OK,
              "invalid device pointer: ", address);
  if (bytes != nullptr) *bytes = size;
  return base;
}

}  // namespace memtrace::shim
