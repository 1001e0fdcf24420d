// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_DEVICE_VARIABLES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_DEVICE_VARIABLES_H_

#include <cstdint>
#include <map>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/runtime_heap.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// The __device__ and __constant__ variables that the process's libraries registered, known by the
// address of their shadow in the host's memory. Each card has its own copy; it is made at the first
// use and reads as zeros, because initial values are in code that we do not read. Safe from any
// thread.
class DeviceVariables {
 public:
  // `heap` must outlive this.
  explicit DeviceVariables(RuntimeHeap& heap) : heap_(heap) {}
  DeviceVariables(const DeviceVariables&) = delete;
  DeviceVariables& operator=(const DeviceVariables&) = delete;

  void Register(const void* shadow, std::uint64_t bytes);
  // kInvalidSymbol if the variable is not registered. REQUIRES: device exists.
  Result Find(const void* shadow, int device, Address* begin, std::uint64_t* bytes);

 private:
  struct Variable {
    std::uint64_t bytes = 0;
    std::map<int, Address> copies;  // by device
  };

  RuntimeHeap& heap_;
  Mutex mutex_;
  std::unordered_map<const void*, Variable> variables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_DEVICE_VARIABLES_H_
