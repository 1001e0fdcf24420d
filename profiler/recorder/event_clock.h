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

// Nanoseconds since it was made, by CLOCK_MONOTONIC; never less than before.
//
// Asking the kernel's clock costs 20 to 45 ns, as much as all the rest of recording an event. Where
// the kernel itself keeps time by the processor's time-stamp counter, that counter is read instead
// (8 to 15 ns) and counted on from the last time that the kernel was asked: at first every
// millisecond, later every second, each time with the rate of the interval before. What this is
// off by is what the rate changed within a second: microseconds where NTP slews the clock (500 ppm
// at most, so never more than 0.5 ms), less than one elsewhere.
//
// Thread rule: one thread at a time.
class EventClock {
 public:
  EventClock();
  // A time of CLOCK_MONOTONIC; 0 if that was before this was made.
  uint64_t Of(uint64_t monotonic_ns) const {
    return monotonic_ns > began_ns_ ? monotonic_ns - began_ns_ : 0;
  }
  uint64_t Now() {
#ifdef __x86_64__
    const uint64_t ticks = __rdtsc() - anchor_ticks_;
    // Also when the counter is behind the anchor, and always where it does not keep time.
    if (ticks < good_for_ticks_) {
      return last_ = std::max(last_, anchor_ns_ + (ticks * rate_ >> kRateBits));
    }
#endif
    return last_ = std::max(last_, AskTheKernel());
  }

 private:
  static constexpr unsigned kRateBits = 32;

  uint64_t AskTheKernel();
  struct Moment {
    uint64_t ticks = 0;
    uint64_t ns = 0;
  };
  void Anchor(const Moment& now);

  const bool by_counter_;
  const uint64_t began_ns_;
  uint64_t last_ = 0;
  uint64_t anchor_ticks_ = 0;    // the counter ...
  uint64_t anchor_ns_ = 0;       // ... when it was so late
  uint64_t good_for_ticks_ = 0;  // behind the anchor, at `rate_`
  uint64_t rate_ = 0;            // nanoseconds a tick, times 2^kRateBits
  uint64_t interval_ns_ = 0;     // from the anchor to the next one
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_EVENT_CLOCK_H_
