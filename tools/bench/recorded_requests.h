// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_RECORDED_REQUESTS_H_
#define MEMTRACE_TOOLS_BENCH_RECORDED_REQUESTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"
#include "interpose/bench/request_sequence.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::bench {

// Builds a sequence from blocks that their source numbers in any way.
class SequenceBuilder {
 public:
  // Adds an allocation and returns its block. REQUIRES: bytes > 0.
  uint32_t Allocate(Bytes bytes, uint64_t stream);
  // Adds the free of a block; its number is used again.
  void Free(uint32_t block);
  void BeginStep();

  RequestSequence Finish();

 private:
  RequestSequence sequence_;
  std::vector<uint32_t> unused_;          // numbers of blocks that were freed
  std::map<uint64_t, uint32_t> streams_;  // handle -> number
};

// Returns the requests of each card that has any. A block is free when the recorded streams that
// used it were done (free_completed). Blocks that were alive before the recording began are left
// out.
std::map<int32_t, RequestSequence> RequestsByCard(const analysis::EventSource& source);

// Returns the lower bound of every allocator: the most that is alive at one time, with each block
// rounded up to 512 bytes.
Bytes LivePeak(const RequestSequence& sequence);

// Returns the bytes alive at equal distances in the sequence, at most `points` and one.
std::vector<Bytes> LiveCurve(const RequestSequence& sequence, size_t points);

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_RECORDED_REQUESTS_H_
