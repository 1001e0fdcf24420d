// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_EVENT_SEQUENCE_H_
#define MEMTRACE_BENCH_EVENT_SEQUENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

// What a program asked of one card, without the addresses it got: the same requests can be put to
// any allocator. A block that waited for another stream after its free is freed where that wait
// ended, so that the sequence has a lower bound that no allocator can undercut. Private pools are
// not told apart.
struct EventSequence {
  struct Event {
    Bytes requested = 0;  // 0: the block is freed
    uint32_t block = 0;   // blocks count from 0 in the order of their births
    uint32_t stream = 0;  // likewise
  };

  std::vector<Event> events;
  uint32_t blocks = 0;
  uint32_t streams = 0;

  // The most bytes alive at once, each block rounded up to 512: what the smallest card that any
  // allocator could do with would have, were its granules 512 bytes.
  Bytes LivePeak() const;
};

// Of a trace, or of its text form (profiler/trace/text/text_trace.h) if the name ends in ".txt".
// Blocks that were alive when the trace began are not in it, nor are their frees.
absl::StatusOr<EventSequence> ReadEventSequence(const std::string& path, int device);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_EVENT_SEQUENCE_H_
