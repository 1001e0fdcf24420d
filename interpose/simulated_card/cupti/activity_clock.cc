// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/activity_clock.h"

#include <time.h>

#include <chrono>

namespace memtrace::card {

Moment ActivityClock::Now() const {
  const auto host = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(host).count();
  if (const Source source = source_) return {source(), nanoseconds};
  timespec wall = {};
  clock_gettime(CLOCK_REALTIME, &wall);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return {
      static_cast<std::uint64_t>(wall.tv_sec) * kSecond + static_cast<std::uint64_t>(wall.tv_nsec),
      nanoseconds};
}

std::uint64_t TimestampAfter(const Moment& start, std::int64_t nanoseconds, const Moment& now) {
  const std::int64_t passed = now.nanoseconds - start.nanoseconds;
  if (passed <= nanoseconds || now.timestamp <= start.timestamp) return now.timestamp;
  const double share = static_cast<double>(nanoseconds) / static_cast<double>(passed);
  return start.timestamp +
         static_cast<std::uint64_t>(static_cast<double>(now.timestamp - start.timestamp) * share);
}

}  // namespace memtrace::card
