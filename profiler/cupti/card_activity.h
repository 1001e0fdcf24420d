// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_CARD_ACTIVITY_H_
#define MEMTRACE_PROFILER_CUPTI_CARD_ACTIVITY_H_

#include <cstdint>
#include <string_view>

namespace memtrace::cupti {

enum class ActivityKind : uint8_t {
  kKernel,
  kCopy,
  kFill,
  kMemoryGiven,  // by the driver, to whomever: cudaMalloc, pools, managed memory
  kMemoryTakenBack,
};

// Something that a card did.
struct CardActivity {
  ActivityKind kind = ActivityKind::kKernel;
  uint32_t device = 0;
  uint32_t context = 0;      // CUPTI's numbers of both
  uint32_t stream = 0;       //
  uint64_t start_ns = 0;     // CLOCK_MONOTONIC
  uint64_t duration_ns = 0;  // 0 of memory
  uint64_t bytes = 0;        // of copies, fills and memory
  uint64_t address = 0;      // of memory
  // Of a kernel as the compiler wrote it ("_ZN2at6native..."); of a copy its direction, in words
  // of CUDA's ("HtoD"). Valid while the activity is told.
  std::string_view name = {};
  uint64_t operation = 0;  // what the launching thread had said it does; 0: nothing
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_CARD_ACTIVITY_H_
