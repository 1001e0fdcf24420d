// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_RING_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_RING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::trace {

// The place of the next block in a file of bounded size: after the others until the file is full,
// then in place of the oldest block of events. Blocks of definitions stay, because events that are
// hours younger than a definition may refer to it.
//
//   full, 5 blocks:  e1 e2 d1 e3 e4    next events  -> e5 e2 d1 e3 e4
//                                      definitions  -> e5 d2 d1 e3 e4
//                                      events       -> e5 d2 d1 e6 e4
//
// Thread rule: one thread at a time.
class BlockRing {
 public:
  // Uses [begin, limit) of the file. Memory for the bookkeeping is allocated here.
  BlockRing(uint64_t begin, uint64_t limit);

  // Returns the offset of the next block. A block that `stays` is never reused. REQUIRES: a block
  // of events can be reused, or there is room.
  uint64_t Next(bool stays);

  // True if Next(true) is allowed: definitions may take a quarter of the blocks.
  bool has_room_for_definitions() const { return 4 * (definitions_ + 1) <= capacity_; }
  // Returns the number of blocks of events once the file is full.
  size_t event_blocks() const { return capacity_ - definitions_; }
  uint64_t end() const { return end_; }  // of the blocks so far
  uint64_t limit() const { return limit_; }

 private:
  void Push(uint64_t offset);
  uint64_t PopOldest();

  uint64_t end_;
  uint64_t limit_;
  size_t capacity_;  // blocks of all kinds
  size_t definitions_ = 0;
  std::vector<uint64_t> events_;  // a ring of `count_` offsets from `oldest_` on, by age
  size_t oldest_ = 0;
  size_t count_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_RING_H_
