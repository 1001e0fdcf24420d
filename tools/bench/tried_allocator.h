// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_TRIED_ALLOCATOR_H_
#define MEMTRACE_TOOLS_BENCH_TRIED_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace memtrace::bench {

// Cards are tried in sizes that are whole granules of the driver.
inline constexpr Bytes kCardGranule = 2_MiB;

inline constexpr size_t kCurvePoints = 400;

// Why an allocator could not be tried to the end; the report makes a sentence of it.
struct Fault {
  std::string name;                 // as the player names it: "crashed", "overlapping"
  std::string detail;               // the signal, the missing function
  std::optional<uint64_t> request;  // its place in the sequence

  friend bool operator==(const Fault&, const Fault&) = default;
};

// The result of one play on a card.
struct PlayOutcome {
  uint64_t failures = 0;                  // requests that were not served
  std::optional<uint64_t> first_failure;  // its place in the sequence
  Bytes peak = 0;                         // the most of the card that was taken
  std::vector<Bytes> in_use;              // bytes of the card at equal distances in the sequence
  std::map<std::string, uint64_t> calls;  // to the driver, by its names
  std::optional<Fault> fault;

  bool completed() const { return failures == 0 && !fault; }
};

// A timed play: nanoseconds of a pair of allocation and free, or why there is no such time.
struct TimedOutcome {
  double nanoseconds = 0;
  std::optional<Fault> fault;
};

// One allocator that is given one sequence of requests, as often as needed.
class TriedAllocator {
 public:
  virtual ~TriedAllocator() = default;

  // True if it ran on a card; false if only its books were kept.
  virtual bool has_card() const = 0;

  // Plays the requests on a card; 0 bytes: on all that a GPU has free. If `stops` is true, the
  // first request that is not served ends the play; with `checks`, each block is judged.
  virtual PlayOutcome PlayOn(Bytes card, bool stops, bool checks) = 0;

  // Returns nothing if the allocator is not timed.
  virtual std::optional<TimedOutcome> Time(Bytes card, int threads, double seconds) = 0;

  // Returns the smallest card that serves all requests, if the allocator finds it by itself.
  virtual std::optional<Bytes> SmallestCard() { return std::nullopt; }
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_TRIED_ALLOCATOR_H_
