// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_CUDA_ALLOCATOR_H_
#define MEMTRACE_INTERPOSE_TORCH_CUDA_ALLOCATOR_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/torch/allocator_settings.h"
#include "interpose/torch/mempool_id.h"
#include "versioned_allocator.h"

namespace memtrace::shim {

// Implements torch's CUDA allocator interface with the C ABI of libmemtrace: it only translates.
// The methods have torch's own names and meanings.
//
// Thread rule: any thread, as in torch. There is one object a process, never destroyed, because
// tensors outlive every static destructor.
class CudaAllocator final : public VersionedAllocator {
 public:
  static CudaAllocator& Get();

  // From c10::Allocator.
  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;

  // From c10::DeviceAllocator.
  bool initialized() override { return device_count_ > 0; }
  void emptyCache(MempoolId_t pool) override;
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;

  // From CUDAAllocator.
  void* raw_alloc(size_t bytes) override;
  void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) override;
  void raw_delete(void* address) override;
  void init(int device_count) override;
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex device) override;
  void enable(bool value) override;
  bool isEnabled() const override;
  void cacheInfo(c10::DeviceIndex device, size_t* largest_block) override;
  void* getBaseAllocation(void* address, size_t* bytes) override;
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) override;
  c10::cuda::CUDACachingAllocator::SnapshotInfo snapshot(MempoolId_t pool,
                                                         bool include_traces) override;
  void beginAllocateToPool(c10::DeviceIndex device, MempoolId_t pool,
                           std::function<bool(cudaStream_t)> filter) override;
  void endAllocateToPool(c10::DeviceIndex device, MempoolId_t pool) override;
  void releasePool(c10::DeviceIndex device, MempoolId_t pool) override;
  int getPoolUseCount(c10::DeviceIndex device, MempoolId_t pool) override;
  void createOrIncrefPool(
      c10::DeviceIndex device, MempoolId_t pool,
      std::shared_ptr<c10::cuda::CUDACachingAllocator::CUDAAllocator> allocator) override;
  void setUseOnOOM(c10::DeviceIndex device, MempoolId_t pool, bool use_on_oom) override;
  void setNoSplit(c10::DeviceIndex device, MempoolId_t pool) override;
  bool checkPoolLiveAllocations(c10::DeviceIndex device, MempoolId_t pool,
                                const std::unordered_set<void*>& expected) override;
  c10::cuda::CUDACachingAllocator::ShareableHandle shareIpcHandle(void* address) override;
  std::shared_ptr<void> getIpcDevPtr(std::string handle) override;
  bool isHistoryEnabled() override;
  void recordHistory(bool enabled,
                     c10::cuda::CUDACachingAllocator::CreateContextFn context_recorder,
                     size_t max_entries, c10::cuda::CUDACachingAllocator::RecordContext when,
                     bool clear, const std::vector<std::string>& skip_actions) override;
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& facts) override;
  void pushCompileContext(std::string& name) override;
  void popCompileContext() override;
  void setUserMetadata(const std::string& metadata) override;
  std::string getUserMetadata() override;
  void attachOutOfMemoryObserver(
      c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer) override;
  void attachAllocatorTraceTracker(
      c10::cuda::CUDACachingAllocator::AllocatorTraceTracker tracker) override;
  void enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex peer) override;
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                          cudaStream_t stream, bool peer_enabled) override;
  std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> getCheckpointState(
      c10::DeviceIndex device, MempoolId_t pool) override;
  c10::cuda::CUDACachingAllocator::CheckpointDelta setCheckpointPoolState(
      c10::DeviceIndex device,
      std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> state) override;

  // The answer of torch.cuda.get_allocator_backend(). "native" keeps programs that check it on
  // their usual path, because our allocator behaves like torch's. Until torch has read its
  // settings, the environment's backend is returned: torch insists on the one chosen when it was
  // loaded.
  std::string name() override { return initialized() ? "native" : BackendOfSettings(); }

 private:
  // Throws torch's error unless there is such a card.
  void CheckDevice(c10::DeviceIndex device) const;
  c10::DeviceIndex CurrentDevice() const;
  void* AllocateRaw(c10::DeviceIndex device, size_t bytes, cudaStream_t stream);
  void* Allocate(c10::DeviceIndex device, size_t bytes, cudaStream_t stream);

  std::atomic<int> device_count_ = 0;
  Mutex mutex_;  // guards the fractions
  std::vector<double> fractions_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_CUDA_ALLOCATOR_H_
