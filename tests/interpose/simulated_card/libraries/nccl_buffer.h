// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_LIBRARIES_NCCL_BUFFER_H_
#define MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_LIBRARIES_NCCL_BUFFER_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {

using Values = std::vector<std::int64_t>;

// Returns the counts of this process.
inline struct memtrace_card_activity Activity() {
  struct memtrace_card_activity activity = {};
  activity.size = sizeof(activity);
  EXPECT_EQ(memtrace_card_activity(&activity), MEMTRACE_CARD_OK);
  return activity;
}

// Memory of one rank, on the current card.
class Buffer {
 public:
  explicit Buffer(const Values& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&memory_, bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_, values.data(), bytes(), cudaMemcpyDefault), cudaSuccess);
  }
  ~Buffer() { EXPECT_EQ(cudaFree(memory_), cudaSuccess); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::int64_t* get() const { return static_cast<std::int64_t*>(memory_); }
  int Known() const {
    return memtrace_card_known_at(reinterpret_cast<std::uintptr_t>(memory_), bytes());
  }
  Values Read() const {
    Values values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), memory_, bytes(), cudaMemcpyDefault), cudaSuccess);
    return values;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(std::int64_t); }
  void* memory_ = nullptr;
  std::size_t count_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_LIBRARIES_NCCL_BUFFER_H_
