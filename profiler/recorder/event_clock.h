// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_EVENT_CLOCK_H_
#define MEMTRACE_PROFILER_RECORDER_EVENT_CLOCK_H_

#include <algorithm>
#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace memtrace::recorder {

// Nanoseconds of CLOCK_MONOTONIC since the object was made; they never go back.
//
// Reading the kernel's clock costs 20 to 45 ns, as much as the rest of recording an event. If the
// kernel itself keeps time by the processor's time-stamp counter, that counter is read instead (8
// to 15 ns) and extrapolated from the last reading of the kernel's clock, which is read every
// millisecond at first and later every second, with the rate of the previous interval. The error is
// the change of the rate within a second: microseconds while NTP slews the clock (at most 500 ppm,
// so never more than 0.5 ms), otherwise less than one microsecond.
//
// Thread rule: one thread at a time.
class EventClock {
 public:
  EventClock();
  // Converts a time of CLOCK_MONOTONIC; returns 0 if it was before this was made.
  uint64_t Of(uint64_t monotonic_ns) const {
    return monotonic_ns > began_ns_ ? monotonic_ns - began_ns_ : 0;
  }
  uint64_t Now() {
#ifdef __x86_64__
    const uint64_t ticks = __rdtsc() - anchor_ticks_;
    // False also if the counter is behind the anchor, and always if it does not keep time.
    if (ticks < good_for_ticks_) {
      return last_ = std::max(last_, anchor_ns_ + (ticks * rate_ >> kRateBits));
    }
#endif
    return last_ = std::max(last_, ReadKernelClock());
  }

 private:
  static constexpr unsigned kRateBits = 32;

  uint64_t ReadKernelClock();
  struct Moment {
    uint64_t ticks = 0;
    uint64_t ns = 0;
  };
  void Anchor(const Moment& now);

  const bool by_counter_;
  const uint64_t began_ns_;
  uint64_t last_ = 0;
  uint64_t anchor_ticks_ = 0;    // the counter at the anchor
  uint64_t anchor_ns_ = 0;       // the time at the anchor
  uint64_t good_for_ticks_ = 0;  // ticks behind the anchor for which `rate_` may be used
  uint64_t rate_ = 0;            // nanoseconds per tick, times 2^kRateBits
  uint64_t interval_ns_ = 0;     // from the anchor to the next one
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_EVENT_CLOCK_H_
