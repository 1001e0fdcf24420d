// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_ACTIVITY_DECODER_H_
#define MEMTRACE_PROFILER_CUPTI_ACTIVITY_DECODER_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "profiler/cupti/clock_alignment.h"

namespace memtrace::cupti {

enum class ActivityKind : uint8_t {
  kKernel,
  kCopy,
  kFill,
  kMemoryGiven,  // by the driver, to any caller: cudaMalloc, pools, managed memory
  kMemoryTakenBack,
};

// One activity of a card: a kernel, a copy, a fill, or a change of its memory.
struct CardActivity {
  ActivityKind kind = ActivityKind::kKernel;
  uint32_t device = 0;
  uint32_t context = 0;      // the context and the stream
  uint32_t stream = 0;       // as CUPTI numbers them
  uint64_t start_ns = 0;     // CLOCK_MONOTONIC
  uint64_t duration_ns = 0;  // 0 for memory
  uint64_t bytes = 0;        // only for copies, fills and memory
  uint64_t address = 0;      // only for memory
  // The name of a kernel as the compiler wrote it ("_ZN2at6native..."), or CUDA's word for the
  // direction of a copy ("HtoD"). Valid only during the call that passes the activity.
  std::string_view name = {};
  uint64_t operation = 0;  // as set by the launching thread; 0: none
};

// Makes activities from CUPTI's records, which come in the order in which CUPTI finished them.
//
// CUPTI's later versions append fields to a record; only fields that all versions since 11 have are
// read here. An operation takes two records: one ties it to a call by the call's correlation
// number, and the kernel's record, which mostly comes later, has the same number. Thread rule: one
// thread at a time.
class ActivityDecoder {
 public:
  // The most calls that wait for their kernels; later calls push out the earliest.
  static constexpr size_t kMostCalls = 1 << 16;

  // `clocks` must outlive this.
  explicit ActivityDecoder(const ClockAlignment& clocks) : clocks_(clocks) {}

  // Returns nothing for a record of an unknown kind, or one that only describes others.
  std::optional<CardActivity> Decode(const CUpti_Activity& record);

 private:
  void NoteOperation(const CUpti_ActivityExternalCorrelation& record);
  template <typename Record>
  CardActivity Work(ActivityKind kind, const Record& record);
  template <typename Record>
  CardActivity Copy(const Record& record);
  CardActivity Memory(const CUpti_ActivityMemory4& record);
  uint64_t OperationOf(uint32_t correlation) const;

  const ClockAlignment& clocks_;
  absl::flat_hash_map<uint32_t, uint64_t> operations_;  // by correlation
  std::deque<uint32_t> calls_;                          // of operations_, oldest first
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_ACTIVITY_DECODER_H_
