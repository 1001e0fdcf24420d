// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_FREES_PENDING_FREES_H_
#define MEMTRACE_ALLOCATOR_FREES_PENDING_FREES_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/blocks/block.h"
#include "allocator/card/stream_events.h"
#include "base/units.h"

namespace memtrace {

// Freed blocks that other streams may still be using (record_stream): each waits for one event per
// recorded stream. Events of one stream finish in the order they were recorded, so only the oldest
// event of each stream is queried: a poll costs one driver call a stream, however many blocks wait.
//
// Thread rule: none, guarded by the owner's lock.
class PendingFrees {
 public:
  // `events` must outlive this.
  explicit PendingFrees(StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND) : events_(events) {}

  // Records an event on each of the block's recorded streams. After an error the block does not
  // wait. REQUIRES: block->recorded_streams is not empty.
  absl::Status Add(Block* block);

  // Returns a block whose last event is done, which then no longer waits; null if there is none. An
  // error of the driver counts as "not yet".
  Block* Poll();

  // Waits for events, the oldest first, until the last event of a block is done, and returns that
  // block. REQUIRES: !empty().
  absl::StatusOr<Block*> WaitForNext();

  // True if a block of this pool waits. Looks at every waiting block.
  bool HasAny(const PoolId& pool) const;

  bool empty() const { return blocks_ == 0; }

 private:
  struct Entry {
    uint64_t age = 0;
    EventId event{};
    Block* block = nullptr;  // null: left over from an Add that failed
  };
  // Uses a vector, not a deque: once it has its capacity, waiting allocates no heap memory.
  struct Queue {
    StreamId stream{};
    std::vector<Entry> entries;  // by age
    size_t finished = 0;         // number of finished entries, at the front

    bool empty() const { return finished == entries.size(); }
    const Entry& oldest() const { return entries[finished]; }
    void PopOldest();
  };

  Queue& QueueOf(StreamId stream);
  Queue* QueueOfOldest();
  Block* Finish(Queue& queue);

  StreamEvents& events_;
  std::vector<Queue> queues_;  // few: all streams that were ever recorded
  uint64_t next_age_ = 0;
  size_t blocks_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_FREES_PENDING_FREES_H_
