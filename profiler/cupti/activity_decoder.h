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

// Makes activities of CUPTI's records, which come in the order in which CUPTI finished them.
//
// A record has grown from version to version of CUPTI, at its end; what is read here stands in the
// part that all since 11 have. An operation is told by two records: one ties it to a call by the
// call's correlation number, the kernel's says the same number, mostly later. Thread rule: one
// thread at a time.
class ActivityDecoder {
 public:
  // Calls whose kernels have not come yet; later ones push out the earliest.
  static constexpr size_t kMostCalls = 1 << 16;

  // `clocks` outlives this.
  explicit ActivityDecoder(const ClockAlignment& clocks) : clocks_(clocks) {}

  // Nothing for a record that only helps to understand others, or of a kind not known.
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
