// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/event_clock.h"

#include <chrono>
#include <fstream>
#include <string>

namespace memtrace::recorder {
namespace {

constexpr uint64_t kFirstInterval =
    1'000'000;  // long enough to make the error of two readings negligible
constexpr uint64_t kLongestInterval = 1'000'000'000;
constexpr uint64_t kMostTicks = 10'000;  // some 4 us for one reading of the kernel's clock

// The rates that counters of real processors have.
constexpr uint64_t kLeastRate = uint64_t{1} << 28;  // 1/16 ns a tick
constexpr uint64_t kMostRate = uint64_t{1} << 34;   // 4 ns a tick: no overflow within a second

// Returns CLOCK_MONOTONIC.
uint64_t MonotonicNs() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// True if the kernel uses the counter: it has checked that it is steady, and equal on all
// processors.
bool KernelUsesCounterAsClock() {
#ifdef __x86_64__
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return file >> source && source == "tsc";
#else
  return false;
#endif
}

}  // namespace

EventClock::EventClock() : by_counter_(KernelUsesCounterAsClock()), began_ns_(MonotonicNs()) {
#ifdef __x86_64__
  anchor_ticks_ = __rdtsc();
#endif
}

uint64_t EventClock::ReadKernelClock() {
#ifdef __x86_64__
  const uint64_t before = __rdtsc();
  const uint64_t now = MonotonicNs() - began_ns_;
  const uint64_t took = __rdtsc() - before;
  // Not if the thread, or the host, was interrupted between the two readings.
  if (by_counter_ && took < kMostTicks && now - anchor_ns_ >= kFirstInterval)
    Anchor({.ticks = before, .ns = now});
  return now;
#else
  return MonotonicNs() - began_ns_;
#endif
}

void EventClock::Anchor(const Moment& now) {
  const uint64_t passed = now.ticks - anchor_ticks_;
  rate_ = 0;
  if (passed != 0 && now.ns - anchor_ns_ < uint64_t{1} << kRateBits) {
    rate_ = ((now.ns - anchor_ns_) << kRateBits) / passed;
  }
  anchor_ticks_ = now.ticks;
  anchor_ns_ = now.ns;
  // After a pause of seconds, or a jump of the counter, the rate is found in the next interval.
  const bool is_known = rate_ >= kLeastRate && rate_ <= kMostRate;
  interval_ns_ = is_known ? std::clamp(2 * interval_ns_, kFirstInterval, kLongestInterval) : 0;
  good_for_ticks_ = is_known ? (interval_ns_ << kRateBits) / rate_ : 0;
}

}  // namespace memtrace::recorder
