// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/cuda_allocator.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

#include "base/mutex.h"
#include "interpose/torch/allocation_history.h"
#include "interpose/torch/allocator_settings.h"
#include "interpose/torch/autograd_context.h"
#include "interpose/torch/card_bytes.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/ipc_memory.h"
#include "interpose/torch/memory_listeners.h"
#include "interpose/torch/operations/operation_uses.h"
#include "interpose/torch/private_pools.h"
#include "interpose/torch/torch_views.h"
#include "interpose/torch/uncached_memory.h"
#include "versioned_rejections.h"
#include "versioned_statistics.h"

namespace memtrace::shim {
namespace {

namespace native = c10::cuda::CUDACachingAllocator;

void Delete(void* address) { CudaAllocator::Get().raw_delete(address); }

C10_NOINLINE void FreeUncachedOrWarn(void* address, int status) {
  if (status == MEMTRACE_INVALID_ARGUMENT) {
    TORCH_CHECK(FreeUncached(address), "invalid device pointer: ", address);
    return;
  }
  // This is called from destructors, so a failure (a forked child, the end of the process) must not
  // end the program here; its next CUDA call reports it.
  TORCH_WARN_ONCE("memtrace: ", memtrace_last_error());
}

// If torch's current stream of a card is the default one, as nearly always, no look-up is needed.
cudaStream_t CurrentStream(c10::DeviceIndex device) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(device);
  const c10::Stream default_stream(c10::Stream::DEFAULT, stream.device());
  return stream.id() == default_stream.id() ? nullptr : stream.stream();
}

// A deleter of its own, so that record_stream can tell such memory and ignore it.
void DeleteUncached(void* address) { FreeUncached(address); }

}  // namespace

CudaAllocator& CudaAllocator::Get() {
  static auto* allocator = new CudaAllocator;
  return *allocator;
}

void CudaAllocator::init(int device_count) {
  AllocationHistory::Get().SetDeviceCount(device_count);
  FollowAutograd();
  ThrowUnlessOk(memtrace_start(device_count, MEMTRACE_MODE_ALLOCATE));
  FollowUses();
  {
    const MutexLock lock(mutex_);
    fractions_.resize(static_cast<size_t>(device_count), 1.0);
  }
  const double fraction = FractionOfCard();  // torch reads its settings now, if not before
  if (device_count_.exchange(device_count) > 0) return;
  WarnAboutIgnoredSettings();
  for (int device = 0; fraction < 1 && device < device_count; ++device) {
    setMemoryFraction(fraction, static_cast<c10::DeviceIndex>(device));
  }
}

void CudaAllocator::CheckDevice(c10::DeviceIndex device) const {
  TORCH_CHECK(device >= 0 && device < device_count_, "Invalid device argument ",
              static_cast<int>(device), ": did you call init?");
}

// On a machine with one card the driver need not be asked.
c10::DeviceIndex CudaAllocator::CurrentDevice() const {
  c10::DeviceIndex device = 0;
  if (device_count_.load(std::memory_order_relaxed) != 1) {
    C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
  }
  return device;
}

c10::DataPtr CudaAllocator::allocate(size_t bytes) {
  TORCH_CHECK_WITH(OutOfMemoryError, bytes < size_t{1} << 60,
                   "CUDA out of memory. Tried to allocate more than 1EB memory.");
  const c10::DeviceIndex device = CurrentDevice();
  if (C10_UNLIKELY(IsCachingOff()) && bytes > 0) {
    void* uncached = AllocateUncached(bytes);
    return {uncached, uncached, &DeleteUncached, c10::Device(c10::kCUDA, device)};
  }
  void* address = bytes == 0 ? nullptr : Allocate(device, bytes, CurrentStream(device));
  return {address, address, &Delete, c10::Device(c10::kCUDA, device)};
}

c10::DeleterFnPtr CudaAllocator::raw_deleter() const { return &Delete; }

void CudaAllocator::copy_data(void* to, const void* from, std::size_t bytes) const {
  C10_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
}

void* CudaAllocator::raw_alloc(size_t bytes) {
  const c10::DeviceIndex device = CurrentDevice();
  return AllocateRaw(device, bytes, CurrentStream(device));
}

void* CudaAllocator::raw_alloc_with_stream(size_t bytes, cudaStream_t stream) {
  return AllocateRaw(CurrentDevice(), bytes, stream);
}

void* CudaAllocator::AllocateRaw(c10::DeviceIndex device, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  if (C10_UNLIKELY(IsCachingOff())) return AllocateUncached(bytes);
  return Allocate(device, bytes, stream);
}

void* CudaAllocator::Allocate(c10::DeviceIndex device, size_t bytes, cudaStream_t stream) {
  void* address = AllocateOrThrow(device, bytes, stream);
  TellAllocated(address, bytes, device);
  return address;
}

void CudaAllocator::raw_delete(void* address) {
  if (address == nullptr) return;
  TellFreed(address);
  const AllocationHistory::Caller caller(AllocationHistory::Level::ALL);
  const int status = memtrace_deallocate(address);
  if (C10_UNLIKELY(status != MEMTRACE_OK)) FreeUncachedOrWarn(address, status);
}

void CudaAllocator::emptyCache(MempoolId_t pool) {
  const AllocationHistory::Caller caller(AllocationHistory::Level::ALL);
  const memtrace_pool id = ToAbi(pool);
  const int status = memtrace_empty_pool(&id);
  // A pool's destructor empties it and must not throw; the next empty_cache tries again.
  const bool is_all = pool == MempoolId_t{0, 0};
  if (C10_UNLIKELY(status != MEMTRACE_OK && !is_all)) {
    TORCH_WARN("memtrace: the memory of a pool could not be released yet: ", memtrace_last_error());
    return;
  }
  ThrowUnlessOk(status);
}

c10::CachingDeviceAllocator::DeviceStats CudaAllocator::getDeviceStats(c10::DeviceIndex device) {
  CheckDevice(device);
  memtrace_statistics statistics{};
  statistics.size = sizeof(statistics);
  ThrowUnlessOk(memtrace_get_statistics(device, &statistics));
  auto stats = ToTorch(statistics);
  stats.max_split_size = LargestSplit();
  AddVersionedStatistics(stats, device);
  return stats;
}

void CudaAllocator::resetAccumulatedStats(c10::DeviceIndex device) {
  CheckDevice(device);
  ThrowUnlessOk(memtrace_reset_accumulated_statistics(device));
  ForgetRejections(device);
}

void CudaAllocator::resetPeakStats(c10::DeviceIndex device) {
  CheckDevice(device);
  ThrowUnlessOk(memtrace_reset_peak_statistics(device));
}

double CudaAllocator::getMemoryFraction(c10::DeviceIndex device) {
  CheckDevice(device);
  const MutexLock lock(mutex_);
  return fractions_.at(static_cast<size_t>(device));
}

void CudaAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count_, "Allocator not initialized for device ",
              static_cast<int>(device), ": did you call init?");
  TORCH_CHECK(fraction >= 0 && fraction <= 1, "invalid fraction:", fraction,
              ". Please set within [0, 1].");
  const auto total = static_cast<double>(TotalBytes(device));
  ThrowUnlessOk(memtrace_set_limit(
      device, fraction == 1 ? ~uint64_t{0} : static_cast<uint64_t>(fraction * total)));
  const MutexLock lock(mutex_);
  fractions_.at(static_cast<size_t>(device)) = fraction;
}

std::vector<StreamSegmentSize> CudaAllocator::getExpandableSegmentSizes(c10::DeviceIndex device) {
  std::vector<StreamSegmentSize> sizes;
  VisitSegments(device, [&](const memtrace_segment& segment) {
    sizes.push_back(
        {reinterpret_cast<cudaStream_t>(segment.stream), segment.small != 0, segment.bytes});
  });
  return sizes;
}

void CudaAllocator::enable(bool value) { SetCaching(value); }

bool CudaAllocator::isEnabled() const { return !IsCachingOff(); }

void CudaAllocator::cacheInfo(c10::DeviceIndex device, size_t* largest_block) {
  CheckDevice(device);
  // torch's first guess: it offers cuDNN workspaces up to this size.
  if (*largest_block == 0) *largest_block = getMemoryInfo(device).first;
  *largest_block = std::max(*largest_block, LargestFreeBlock(device));
}

void* CudaAllocator::getBaseAllocation(void* address, size_t* bytes) {
  return BaseAllocationOrThrow(address, bytes);
}

void CudaAllocator::recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) {
  // Memory of another process (IPC) has another deleter and is not ours.
  if (data.get() == nullptr || data.get_deleter() != &Delete) return;
  ThrowUnlessOk(memtrace_record_stream(data.get(), StreamValue(stream.stream())));
}

native::SnapshotInfo CudaAllocator::snapshot(MempoolId_t pool, bool include_traces) {
  native::SnapshotInfo snapshot{};
  std::vector<size_t> active(static_cast<size_t>(device_count_), 0);
  for (int device = 0; device < device_count_; ++device) {
    VisitSegments(static_cast<c10::DeviceIndex>(device), [&](const memtrace_segment& segment) {
      if (pool != MempoolId_t{0, 0} && ToTorch(segment.pool) != pool) return;
      snapshot.segments.push_back(ToTorch(segment));
      active[static_cast<size_t>(device)] += snapshot.segments.back().active_size;
    });
  }
  AllocationHistory& history = AllocationHistory::Get();
  history.Complete(snapshot, include_traces);
  // The event is added after the history was copied, as in torch.
  for (int device = 0; device < device_count_; ++device) {
    history.Note(AllocationHistory::Entry::SNAPSHOT, static_cast<c10::DeviceIndex>(device), 0,
                 active[static_cast<size_t>(device)], nullptr, pool);
  }
  AddSettings(snapshot.config_metadata);
  return snapshot;
}

void CudaAllocator::beginAllocateToPool(c10::DeviceIndex device, MempoolId_t pool,
                                        std::function<bool(cudaStream_t)> filter) {
  CheckDevice(device);
  BeginAllocateToPool(device, pool, std::move(filter));
}

void CudaAllocator::endAllocateToPool(c10::DeviceIndex device, MempoolId_t pool) {
  CheckDevice(device);
  const memtrace_pool id = ToAbi(pool);
  TORCH_CHECK(memtrace_end_routing(device, &id) == MEMTRACE_OK,
              "endAllocatePool: not currently recording to mempool_id: ", memtrace_last_error());
}

void CudaAllocator::releasePool(c10::DeviceIndex device, MempoolId_t pool) {
  CheckDevice(device);
  const memtrace_pool id = ToAbi(pool);
  ThrowUnlessOk(memtrace_release_pool(device, &id));
}

int CudaAllocator::getPoolUseCount(c10::DeviceIndex device, MempoolId_t pool) {
  CheckDevice(device);
  return PoolUseCount(device, pool);
}

void CudaAllocator::createOrIncrefPool(c10::DeviceIndex device, MempoolId_t pool,
                                       std::shared_ptr<native::CUDAAllocator> allocator) {
  CheckDevice(device);
  RetainPool(device, pool, std::move(allocator));
}

void CudaAllocator::setUseOnOOM(c10::DeviceIndex device, MempoolId_t pool, bool use_on_oom) {
  CheckDevice(device);
  const memtrace_pool id = ToAbi(pool);
  ThrowUnlessOk(memtrace_set_pool_use_on_oom(device, &id, use_on_oom ? 1 : 0));
}

void CudaAllocator::setNoSplit(c10::DeviceIndex device, MempoolId_t pool) {
  CheckDevice(device);
  const memtrace_pool id = ToAbi(pool);
  ThrowUnlessOk(memtrace_set_pool_no_split(device, &id));
}

bool CudaAllocator::checkPoolLiveAllocations(c10::DeviceIndex device, MempoolId_t pool,
                                             const std::unordered_set<void*>& expected) {
  return HasLiveAllocations(device, pool, expected);
}

native::ShareableHandle CudaAllocator::shareIpcHandle(void* address) {
  return ShareMemory(address);
}

std::shared_ptr<void> CudaAllocator::getIpcDevPtr(std::string handle) {
  return OpenSharedMemory(handle);
}

bool CudaAllocator::isHistoryEnabled() { return AllocationHistory::Get().is_recording(); }

void CudaAllocator::recordHistory(bool enabled, native::CreateContextFn context_recorder,
                                  size_t max_entries, native::RecordContext when, bool clear,
                                  const std::vector<std::string>& skip_actions) {
  AllocationHistory::Get().Record(enabled, context_recorder, max_entries, when, clear,
                                  skip_actions);
}

void CudaAllocator::recordAnnotation(
    const std::vector<std::pair<std::string, std::string>>& facts) {
  AllocationHistory::Get().Annotate(facts);
}

void CudaAllocator::pushCompileContext(std::string& name) {
  AllocationHistory::PushCompileContext(name);
}

void CudaAllocator::popCompileContext() { AllocationHistory::PopCompileContext(); }

void CudaAllocator::setUserMetadata(const std::string& metadata) {
  AllocationHistory::SetUserMetadata(metadata);
}

std::string CudaAllocator::getUserMetadata() { return AllocationHistory::UserMetadata(); }

void CudaAllocator::attachOutOfMemoryObserver(native::OutOfMemoryObserver observer) {
  AttachOutOfMemoryObserver(std::move(observer));
}

void CudaAllocator::attachAllocatorTraceTracker(native::AllocatorTraceTracker tracker) {
  AllocationHistory::Get().Attach(std::move(tracker));
}

// The first call is for memory from cudaMalloc, the second for memory that our allocator has
// mapped.
void CudaAllocator::enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex peer) {
  const c10::cuda::CUDAGuard guard(device);
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, /*flags=*/0);
  if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
  } else {
    C10_CUDA_CHECK(enabled);
  }
  ThrowUnlessOk(memtrace_admit_peer(peer, device));
}

cudaError_t CudaAllocator::memcpyAsync(void* to, int to_device, const void* from, int from_device,
                                       size_t bytes, cudaStream_t stream, bool peer_enabled) {
  if (peer_enabled || to_device == from_device) {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}

std::shared_ptr<native::AllocatorState> CudaAllocator::getCheckpointState(c10::DeviceIndex device,
                                                                          MempoolId_t pool) {
  return CheckpointPool(device, pool);
}

native::CheckpointDelta CudaAllocator::setCheckpointPoolState(
    c10::DeviceIndex device, std::shared_ptr<native::AllocatorState> state) {
  TORCH_CHECK(state != nullptr, "setCheckpointPoolState: the checkpoint is null");
  return RestorePool(device, *state, &Delete);
}

}  // namespace memtrace::shim
