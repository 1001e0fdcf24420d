// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_STACK_INDEX_H_
#define MEMTRACE_PROFILER_RECORDER_STACK_INDEX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// Stack ids by the 64-bit hash of their frames: insert-only, open addressing, at most half full.
//
// Find takes no lock. Insert may be called by one thread at a time; when the table grows, the old
// one is kept for its readers (all old ones together are as large as the current one).
class StackIndex {
 public:
  StackIndex();

  // Returns 0 if the hash is unknown, or if another thread has only just inserted it.
  trace::StackId Find(uint64_t hash) const;
  // Keeps the first id of a hash. REQUIRES: hash != 0.
  void Insert(uint64_t hash, trace::StackId id);

  size_t size() const { return size_; }  // for the inserting thread

 private:
  struct Slot {
    std::atomic<uint64_t> hash = 0;  // stored after the id; 0 is an empty slot
    trace::StackId id = 0;
  };
  struct Table {
    explicit Table(size_t capacity) : mask(capacity - 1), slots(new Slot[capacity]) {}
    const size_t mask;
    const std::unique_ptr<Slot[]> slots;
  };
  static bool InsertInto(Table& table, uint64_t hash, trace::StackId id);
  void Grow();

  std::vector<std::unique_ptr<Table>> tables_;  // the last one is current
  std::atomic<Table*> current_;
  size_t size_ = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_STACK_INDEX_H_
