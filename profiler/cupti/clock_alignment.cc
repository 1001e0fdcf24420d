// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/clock_alignment.h"

#include <utility>

namespace memtrace::cupti {
namespace {

constexpr int kReadings = 5;

// Returns `base` plus `distance`, which may be negative; at least 0.
uint64_t Plus(uint64_t base, double distance) {
  const auto whole = static_cast<int64_t>(distance);
  if (whole < 0 && static_cast<uint64_t>(-whole) > base) return 0;
  return base + static_cast<uint64_t>(whole);
}

double Distance(uint64_t from, uint64_t to) {
  return static_cast<double>(static_cast<int64_t>(to - from));
}

}  // namespace

ClockAlignment::ClockAlignment(Clock ours, Clock other)
    : ours_(std::move(ours)), other_(std::move(other)) {}

void ClockAlignment::Align() {
  Pair best;
  uint64_t least = ~uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    const uint64_t before = ours_();
    const uint64_t other = other_();
    const uint64_t doubt = ours_() - before;
    if (doubt >= least) continue;
    least = doubt;
    best = {.ours = before + doubt / 2, .other = other};
  }
  pairs_.push_back(best);
  if (pairs_.size() > kPairs) pairs_.pop_front();
}

// Uses the latest pair that is not later, because a clock that was set back has some times twice.
uint64_t ClockAlignment::ToOurClock(uint64_t other) const {
  size_t at = pairs_.size() - 1;
  while (at > 0 && pairs_[at].other > other) --at;
  const Pair& before = pairs_[at];
  const double distance = Distance(before.other, other);
  if (at + 1 == pairs_.size() || distance < 0) return Plus(before.ours, distance);
  const Pair& after = pairs_[at + 1];
  const double share = distance / Distance(before.other, after.other);
  return Plus(before.ours, share * Distance(before.ours, after.ours));
}

}  // namespace memtrace::cupti
