// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_POOL_GUESS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_POOL_GUESS_H_

#include <cstdint>
#include <optional>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replay/recorded_torch.h"

namespace memtrace::replay {

// Guesses the private pool of a block if the trace does not state it (torch's snapshots do not). A
// block in a known segment is of that segment's pool. A new segment is not of a pool in which the
// request would have been served without one, but of the first other pool, or of one not seen
// before.
//
// Thread rule: one thread at a time.
class PoolGuess {
 public:
  // `torch` outlives it.
  explicit PoolGuess(RecordedTorch& torch) : torch_(torch) {}

  // Returns the pool of a block in a known segment; nothing if its segment is new.
  std::optional<uint32_t> OfKnown(const trace::Allocate& block);
  // Returns the pool of a block in a new segment. `fitted`: the default pool would have served it
  // when it was requested.
  uint32_t OfNew(const trace::Allocate& block, bool fitted);

  uint32_t pools() const { return pools_; }  // that had to be guessed

 private:
  // Far from the numbers that traces use.
  static constexpr uint32_t kFirst = 1U << 30;

  bool IsInNewSegment(const trace::Allocate& block);

  RecordedTorch& torch_;
  uint32_t pools_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_POOL_GUESS_H_
