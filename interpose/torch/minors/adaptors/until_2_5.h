// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_5_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_5_H_

#include <c10/core/Device.h>

#include "interpose/torch/mempool_id.h"

namespace memtrace::shim {

// The allocator's interface of torch 2.5 with the additions of 2.6, which that torch never calls.
template <typename Base>
class Until2_5 : public Base {
 public:
  virtual double getMemoryFraction(c10::DeviceIndex device) = 0;
  virtual void enable(bool value) = 0;
  virtual bool isEnabled() const = 0;
  virtual int getPoolUseCount(c10::DeviceIndex device, MempoolId_t pool) = 0;
  virtual void ensureExistsAndIncrefPool(c10::DeviceIndex device, MempoolId_t pool) = 0;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_UNTIL_2_5_H_
