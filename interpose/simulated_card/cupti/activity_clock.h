// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_CLOCK_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_CLOCK_H_

#include <atomic>
#include <cstdint>

namespace memtrace::card {

// A moment on two clocks: the records' clock, whose unit its owner chooses, and the host's.
struct Moment {
  std::uint64_t timestamp = 0;
  std::int64_t nanoseconds = 0;
};

// The clock of activity records: CLOCK_REALTIME, or the one that the client registered
// (cupti_activity.h, cuptiActivityRegisterTimestampCallback). Safe from any thread.
class ActivityClock {
 public:
  using Source = std::uint64_t (*)();

  ActivityClock() = default;
  ActivityClock(const ActivityClock&) = delete;
  ActivityClock& operator=(const ActivityClock&) = delete;

  void Use(Source source) { source_ = source; }
  Moment Now() const;

 private:
  std::atomic<Source> source_ = nullptr;
};

// Returns the timestamp of `nanoseconds` after start, but not later than now. Between two known
// moments a client's clock is assumed to run evenly.
std::uint64_t TimestampAfter(const Moment& start, std::int64_t nanoseconds, const Moment& now);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_CLOCK_H_
