// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CARD_STATE_H_
#define MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CARD_STATE_H_

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"

namespace memtrace::card {

// Starts the driver, and makes the first card's context the calling thread's.
inline void StartCard() {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS) << "set MEMTRACE_CARD, as ctest does";
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

inline struct memtrace_card_activity Activity() {
  struct memtrace_card_activity activity {};
  activity.size = sizeof(activity);
  EXPECT_EQ(memtrace_card_activity(&activity), MEMTRACE_CARD_OK);
  return activity;
}

// Returns the sentences of all faults so far.
inline std::vector<std::string> Faults() {
  std::vector<std::string> texts;
  memtrace_card_visit_faults(
      [](void* list, const char* text, std::uint64_t) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(text);
      },
      &texts);
  return texts;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CARD_STATE_H_
