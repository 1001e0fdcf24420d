// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/frees/pending_frees.h"

#include <algorithm>

#include "allocator/segment/expandable_segment.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace memtrace {

absl::Status PendingFrees::Add(Block* block) {
  MEMTRACE_CHECK(!block->recorded_streams.empty());
  uint32_t added = 0;
  for (const StreamId stream : block->recorded_streams) {
    const absl::StatusOr<EventId> event = events_.Record(stream);
    if (!event.ok()) {
      // The events recorded so far stay in their queues and are polled, but belong to no block.
      while (added > 0) QueueOf(block->recorded_streams[--added]).entries.back().block = nullptr;
      return event.status();
    }
    QueueOf(stream).entries.push_back({next_age_++, *event, block});
    ++added;
  }
  block->unfinished_events = added;
  ++blocks_;
  return absl::OkStatus();
}

Block* PendingFrees::Poll() {
  for (Queue& queue : queues_) {
    while (!queue.empty()) {
      const absl::StatusOr<bool> done = events_.Done(queue.oldest().event);
      if (!done.ok() || !*done) break;
      if (Block* block = Finish(queue)) return block;
    }
  }
  return nullptr;
}

absl::StatusOr<Block*> PendingFrees::WaitForNext() {
  while (true) {
    Queue* queue = QueueOfOldest();
    MEMTRACE_CHECK(queue != nullptr);
    MEMTRACE_RETURN_IF_ERROR(events_.Wait(queue->oldest().event));
    if (Block* block = Finish(*queue)) return block;
  }
}

bool PendingFrees::HasAny(const PoolId& pool) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    return std::any_of(queue.entries.begin() + static_cast<std::ptrdiff_t>(queue.finished),
                       queue.entries.end(), [&](const Entry& entry) {
                         return entry.block != nullptr && entry.block->segment->key().pool == pool;
                       });
  });
}

PendingFrees::Queue& PendingFrees::QueueOf(StreamId stream) {
  for (Queue& queue : queues_) {
    if (queue.stream == stream) return queue;
  }
  queues_.push_back({stream, {}});
  return queues_.back();
}

PendingFrees::Queue* PendingFrees::QueueOfOldest() {
  Queue* found = nullptr;
  for (Queue& queue : queues_) {
    if (queue.empty()) continue;
    if (found == nullptr || queue.oldest().age < found->oldest().age) found = &queue;
  }
  return found;
}

// Removes the oldest event of `queue`, which is done. Returns its block if it waits for no other
// event.
Block* PendingFrees::Finish(Queue& queue) {
  Block* block = queue.oldest().block;
  queue.PopOldest();
  if (block == nullptr || --block->unfinished_events > 0) return nullptr;
  --blocks_;
  return block;
}

// Closes the gap once it is half of the vector, so that each entry is moved at most once on
// average.
void PendingFrees::Queue::PopOldest() {
  if (++finished * 2 < entries.size()) return;
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(finished));
  finished = 0;
}

}  // namespace memtrace
