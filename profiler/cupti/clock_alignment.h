// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_CLOCK_ALIGNMENT_H_
#define MEMTRACE_PROFILER_CUPTI_CLOCK_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

namespace memtrace::cupti {

// Converts another tool's clock to ours, both in nanoseconds, from pairs of readings taken now and
// then.
//
// The other clock may be set while it runs (as CLOCK_REALTIME is) and may be slightly faster or
// slower. Between two pairs it is assumed to run evenly; before the first and after the last one,
// as fast as ours.
//
//     ours     |---------|--------------|------>
//     other    |----------|-------------|------>     pairs at the bars
//
// Thread rule: one thread at a time.
class ClockAlignment {
 public:
  using Clock = std::function<uint64_t()>;

  // The most pairs kept: a record comes back within one or two of them.
  static constexpr size_t kPairs = 64;

  ClockAlignment(Clock ours, Clock other);

  // Takes a pair: of several readings of the other clock, each between two of ours, it keeps the
  // one with the shortest time around it.
  void Align();

  // REQUIRES: Align was called.
  uint64_t ToOurClock(uint64_t other) const;

 private:
  struct Pair {
    uint64_t ours = 0;
    uint64_t other = 0;
  };

  Clock ours_;
  Clock other_;
  std::deque<Pair> pairs_;  // ascending in `ours`
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_CLOCK_ALIGNMENT_H_
