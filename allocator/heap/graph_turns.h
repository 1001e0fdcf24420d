// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_GRAPH_TURNS_H_
#define MEMTRACE_ALLOCATOR_HEAP_GRAPH_TURNS_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/card/stream_events.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "base/units.h"

namespace memtrace {

// Answers what programs ask about the memory of captured graphs that are replayed again and again.
//
// Thread rule: any thread; it takes the card's lock.
class GraphTurns {
 public:
  // All references must outlive this.
  GraphTurns(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
             DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND,
             StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : lock_(lock), heap_(heap), events_(events) {}

  // Lets pools whose graphs never run at the same time share the chunks that are free in them:
  // after the captures these hold only intermediates. Waits for all work of the card. Pools that
  // the card does not know are left out. kNotFound, which changes nothing, if fewer than two are
  // left; kUnavailable while a graph is captured. REQUIRES: no graph of the pools is replayed
  // during the call.
  absl::Status Share(const std::vector<PoolId>& pools, TakingTurns::Shared& shared);

  // The reason for which graphs of a pool must not be replayed now.
  struct Obstacle {
    MovableOwner asleep{};  // an owner with memory in the pool; 0 if none sleeps
    bool has_lost_memory = false;
  };
  Obstacle ObstacleOf(const PoolId& pool);

 private:
  std::vector<Pool*> Known(const std::vector<PoolId>& pools) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);

  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  StreamEvents& events_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_GRAPH_TURNS_H_
