// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_EVENT_SEQUENCE_H_
#define MEMTRACE_BENCH_EVENT_SEQUENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

// The requests of a program to one card, without the addresses it got, so that they can be repeated
// with any allocator. A block that waited for another stream after its free is freed when that wait
// ended, so that the sequence has a lower bound that no allocator can undercut. Private pools are
// not distinguished.
struct EventSequence {
  struct Event {
    Bytes requested = 0;  // 0: the block is freed
    uint32_t block = 0;   // blocks are numbered from 0 in the order of their allocations
    uint32_t stream = 0;  // numbered in the same way
  };

  std::vector<Event> events;
  uint32_t blocks = 0;
  uint32_t streams = 0;

  // Returns the most bytes alive at once, each block rounded up to 512: the smallest card that
  // could do for any allocator, if granules had 512 bytes.
  Bytes LivePeak() const;
};

// Reads a trace, or its text form (profiler/trace/text/text_trace.h) if the name ends in ".txt".
// Leaves out blocks that were alive when the trace began, and their frees.
absl::StatusOr<EventSequence> ReadEventSequence(const std::string& path, int device);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_EVENT_SEQUENCE_H_
