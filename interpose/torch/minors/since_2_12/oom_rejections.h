// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_OOM_REJECTIONS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_OOM_REJECTIONS_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/torch/card_bytes.h"

namespace memtrace::shim {

// Implements throw_on_cudamalloc_oom: a request that would make the process exceed
// per_process_memory_fraction of the card is rejected before anything is released for it, counted
// separately and told to its own observers (torch's pull request 179473). Any thread.
class OomRejections {
 public:
  using Observer = c10::cuda::CUDACachingAllocator::OomRejectionObserver;

  // Never destroyed, because memory may be requested while the process ends.
  static OomRejections& Get() {
    static auto* rejections = new OomRejections;
    return *rejections;
  }

  void Attach(Observer observer) {
    const MutexLock lock(mutex_);
    observers_.push_back(std::move(observer));
  }

  // Returns bytes, at least 1; 0 without a fraction.
  uint64_t Limit(c10::DeviceIndex device, double fraction) {
    if (fraction >= 1) return 0;
    const MutexLock lock(mutex_);
    uint64_t& total = totals_[device];
    if (total == 0) total = TotalBytes(device);
    return std::max<uint64_t>(1, static_cast<uint64_t>(fraction * static_cast<double>(total)));
  }

  int64_t Count(c10::DeviceIndex device) {
    const MutexLock lock(mutex_);
    return counts_[device];
  }
  void Forget(c10::DeviceIndex device) {
    const MutexLock lock(mutex_);
    counts_[device] = 0;
  }

  // Tells the observers, without holding a lock, and throws torch's error.
  [[noreturn]] void Note(const memtrace_out_of_memory& rejection) {
    std::vector<Observer> observers;
    {
      const MutexLock lock(mutex_);
      ++counts_[static_cast<c10::DeviceIndex>(rejection.device)];
      observers = observers_;
    }
    for (const Observer& observer : observers) {
      observer(rejection.device, rejection.requested, rejection.reserved, rejection.device_total);
    }
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     "CUDA out of memory. Allocation was preemptively rejected because it would "
                     "exceed per_process_memory_fraction limit. Requested size: ",
                     c10::CachingAllocator::format_size(rejection.requested));
  }

 private:
  Mutex mutex_;  // guards the members below
  std::vector<Observer> observers_;
  std::map<c10::DeviceIndex, uint64_t> totals_;
  std::map<c10::DeviceIndex, int64_t> counts_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_12_OOM_REJECTIONS_H_
