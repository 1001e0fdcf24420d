// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_9_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_9_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "interpose/torch/mempool_id.h"

namespace memtrace::shim {

// Describes a segment that can grow, as 2.10 does.
struct StreamSegmentSize {
  cudaStream_t stream;
  bool is_small_pool;
  size_t total_size;
};

// The allocator's interface of torch 2.8 and 2.9, with the additions of 2.10 for overriding
// methods. torch calls none of them before 2.10.
template <typename Base>
class Until2_9 : public Base {
 public:
  virtual std::vector<StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex device) = 0;
  virtual void setNoSplit(c10::DeviceIndex device, MempoolId_t pool) = 0;
  virtual void setUserMetadata(const std::string& metadata) = 0;
  virtual std::string getUserMetadata() = 0;

  // Returns the card's free bytes and its total bytes.
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) {
    const c10::cuda::CUDAGuard guard(device);
    size_t free = 0;
    size_t total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return {free, total};
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_9_H_
