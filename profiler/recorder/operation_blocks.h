// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_OPERATION_BLOCKS_H_
#define MEMTRACE_PROFILER_RECORDER_OPERATION_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::recorder {

// Which block an operation allocated last, for what the card tells about it later.
//
// An operation is what a thread does from one allocation's request to the next one's (or until it
// says that it does something else); its number is the process's own. The latest kMost are known.
// Begin and End: of the calling thread, any thread. The others: one thread at a time.
class OperationBlocks {
 public:
  // Some steps of a training; what the card did comes back at the end of each. 1 MiB.
  static constexpr size_t kMost = 1 << 16;

  OperationBlocks() : blocks_(kMost) {}

  static uint64_t Begin() { return running = next.fetch_add(1, std::memory_order_relaxed); }
  static void End() { running = 0; }

  // The calling thread's operation allocated the block of that sequence number.
  void Note(uint64_t block) {
    if (running != 0) blocks_[running % kMost] = {.operation = running, .block = block};
  }
  // 0 if there was none, or too long ago.
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
