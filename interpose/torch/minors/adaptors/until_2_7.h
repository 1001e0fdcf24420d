// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_7_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_7_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <string>

#include "interpose/torch/mempool_id.h"

namespace memtrace::shim {

// Gives the allocator's interface of torch 2.6 and 2.7 the signatures of 2.8 for the overriding
// methods: a history that begins keeps what an earlier one noted, and a pool has no memory source
// of its own.
template <typename Base>
class Until2_7 : public Base {
 public:
  using CUDAAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;
  using SnapshotInfo = c10::cuda::CUDACachingAllocator::SnapshotInfo;
  using RecordContext = c10::cuda::CUDACachingAllocator::RecordContext;
  using CreateContextFn = c10::cuda::CUDACachingAllocator::CreateContextFn;

  virtual void emptyCache(MempoolId_t pool) = 0;
  virtual SnapshotInfo snapshot(MempoolId_t pool) = 0;
  virtual void createOrIncrefPool(c10::DeviceIndex device, MempoolId_t pool,
                                  CUDAAllocator* allocator) = 0;
  virtual void setUseOnOOM(c10::DeviceIndex device, MempoolId_t pool) = 0;
  virtual void recordHistory(bool enabled, CreateContextFn context_recorder, size_t max_entries,
                             RecordContext when, bool clear) = 0;
  virtual void pushCompileContext(std::string& name) = 0;
  virtual void popCompileContext() = 0;

  void emptyCache() final { emptyCache({0, 0}); }
  SnapshotInfo snapshot() final { return snapshot({0, 0}); }
  void ensureExistsAndIncrefPool(c10::DeviceIndex device, MempoolId_t pool) final {
    createOrIncrefPool(device, pool, nullptr);
  }
  void recordHistory(bool enabled, CreateContextFn context_recorder, size_t max_entries,
                     RecordContext when) final {
    recordHistory(enabled, context_recorder, max_entries, when, /*clear=*/false);
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_7_H_
