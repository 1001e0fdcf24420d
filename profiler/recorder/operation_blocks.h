// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_OPERATION_BLOCKS_H_
#define MEMTRACE_PROFILER_RECORDER_OPERATION_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::recorder {

// The block that each operation allocated last, for later reports of the card's activities.
//
// An operation is what a thread does from one allocation request to the next one (or until it
// declares another operation); its number is unique in the process. The latest kMost are known.
// Thread rule: Begin and End act on the calling thread, any thread; the others: one thread at a
// time.
class OperationBlocks {
 public:
  // Enough for some training steps; activities come back at the end of each. 1 MiB.
  static constexpr size_t kMost = 1 << 16;

  OperationBlocks() : blocks_(kMost) {}

  static uint64_t Begin() { return running = next.fetch_add(1, std::memory_order_relaxed); }
  static void End() { running = 0; }

  // Notes that the calling thread's operation allocated the block with this sequence number.
  void Note(uint64_t block) {
    if (running != 0) blocks_[running % kMost] = {.operation = running, .block = block};
  }
  // Returns 0 if there was none, or if it was too long ago.
  uint64_t Of(uint64_t operation) const {
    const Last& last = blocks_[operation % kMost];
    return last.operation == operation ? last.block : 0;
  }

 private:
  struct Last {
    uint64_t operation = 0;
    uint64_t block = 0;
  };

  static inline thread_local uint64_t running = 0;
  static inline std::atomic<uint64_t> next = 1;

  std::vector<Last> blocks_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_OPERATION_BLOCKS_H_
