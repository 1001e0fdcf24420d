// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_
#define MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace memtrace {

// A method of Vmm or StreamEvents.
enum class DriverCall : uint8_t {
  kReserve,
  kReleaseReservation,
  kCreate,
  kRelease,
  kMap,
  kGiveAccess,
  kUnmap,
  kMemoryInfo,
  kRecord,
  kDone,
  kWait,
};
inline constexpr size_t kDriverCalls = 11;

// Counts the calls to the stand-in driver and makes chosen ones fail. One plan at a time; the
// counts go on. Thread rule: none.
class CallFailures {
 public:
  enum class Repeat { kOnce, kFromThenOn };

  // The `nth` call from now, counted from 1, fails: of this kind, or of any.
  void FailNth(DriverCall call, uint64_t nth, Repeat repeat, absl::Status error);
  void FailNthOfAny(uint64_t nth, Repeat repeat, absl::Status error);
  void StopFailing() { plan_.reset(); }

  // Every call asks this first: OK, or the error it has to return without doing anything.
  absl::Status Next(DriverCall call);

  uint64_t calls(DriverCall call) const { return calls_[static_cast<size_t>(call)]; }
  uint64_t calls() const;
  uint64_t failed() const { return failed_; }

 private:
  struct Plan {
    std::optional<DriverCall> only;
    uint64_t until = 0;  // calls that still succeed
    Repeat repeat = Repeat::kOnce;
    absl::Status error;
  };

  std::optional<Plan> plan_;
  std::array<uint64_t, kDriverCalls> calls_{};
  uint64_t failed_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_CALL_FAILURES_H_
