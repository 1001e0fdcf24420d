// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_10_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_10_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interpose/torch/mempool_id.h"

namespace memtrace::shim {

// The allocator's interface of torch 2.8 to 2.10, with the signatures of 2.11 for overriding
// methods: snapshots are complete, histories skip nothing, and a pool's memory source is not
// shared.
template <typename Base>
class Until2_10 : public Base {
 public:
  using CUDAAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;
  using SnapshotInfo = c10::cuda::CUDACachingAllocator::SnapshotInfo;
  using RecordContext = c10::cuda::CUDACachingAllocator::RecordContext;
  using CreateContextFn = c10::cuda::CUDACachingAllocator::CreateContextFn;

  virtual SnapshotInfo snapshot(MempoolId_t pool, bool include_traces) = 0;
  virtual void createOrIncrefPool(c10::DeviceIndex device, MempoolId_t pool,
                                  std::shared_ptr<CUDAAllocator> allocator) = 0;
  virtual void setUseOnOOM(c10::DeviceIndex device, MempoolId_t pool, bool use_on_oom) = 0;
  virtual void recordHistory(bool enabled, CreateContextFn context_recorder, size_t max_entries,
                             RecordContext when, bool clear,
                             const std::vector<std::string>& skip_actions) = 0;

  SnapshotInfo snapshot(MempoolId_t pool) final { return snapshot(std::move(pool), true); }
  // The caller keeps the allocator alive as long as the pool, as torch.cuda.MemPool documents.
  void createOrIncrefPool(c10::DeviceIndex device, MempoolId_t pool,
                          CUDAAllocator* allocator) final {
    createOrIncrefPool(device, std::move(pool),
                       std::shared_ptr<CUDAAllocator>(std::shared_ptr<void>(), allocator));
  }
  void setUseOnOOM(c10::DeviceIndex device, MempoolId_t pool) final {
    setUseOnOOM(device, std::move(pool), true);
  }
  void recordHistory(bool enabled, CreateContextFn context_recorder, size_t max_entries,
                     RecordContext when, bool clear) final {
    recordHistory(enabled, context_recorder, max_entries, when, clear, {});
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_10_H_
