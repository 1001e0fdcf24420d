// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_
#define MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace memtrace {

// A method of Vmm, StreamEvents or ChunkCopies.
enum class DriverCall : uint8_t {
  kReserve,
  kReleaseReservation,
  kCreate,
  kRelease,
  kRetain,
  kMap,
  kGiveAccess,
  kUnmap,
  kMemoryInfo,
  kRecord,
  kDone,
  kWait,
  kHostMemory,
  kCopy,
};
inline constexpr size_t kDriverCalls = 14;

// Counts the calls to the simulated driver and makes chosen ones fail. Only one plan is active at a
// time; the counts continue across plans. Thread rule: none.
class CallFailures {
 public:
  enum class Repeat { kOnce, kFromThenOn };

  // Makes the `nth` call from now fail, counted from 1: of this kind, or (OfAny) of any kind.
  void FailNth(DriverCall call, uint64_t nth, Repeat repeat, absl::Status error);
  void FailNthOfAny(uint64_t nth, Repeat repeat, absl::Status error);
  void StopFailing() { plan_.reset(); }

  // Called at the start of each driver call. Returns OK, or the error that the call must return
  // without any effect.
  absl::Status Next(DriverCall call);

  uint64_t calls(DriverCall call) const { return calls_[static_cast<size_t>(call)]; }
  uint64_t calls() const;
  uint64_t failed() const { return failed_; }

 private:
  struct Plan {
    std::optional<DriverCall> only;
    uint64_t until = 0;  // calls that succeed before the failure
    Repeat repeat = Repeat::kOnce;
    absl::Status error;
  };

  std::optional<Plan> plan_;
  std::array<uint64_t, kDriverCalls> calls_{};
  uint64_t failed_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_
