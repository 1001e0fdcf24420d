// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_POOLS_H_
#define MEMTRACE_ALLOCATOR_POOLS_POOLS_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "allocator/card/memory_source.h"
#include "allocator/pools/movable_owners.h"
#include "allocator/pools/taking_turns.h"
#include "base/units.h"

namespace memtrace {

// A private pool: memory for certain requests only, because a captured graph writes to its
// addresses at every replay, or because it has properties of its own (torch.cuda.MemPool).
//
// While it has users, its free memory stays mapped: a replay uses it although it is not allocated.
// A pool that has lost its last user is treated like the default pool's cache.
struct Pool {
  PoolId id;
  int uses = 0;                          // graphs, MemPool objects, routings
  std::shared_ptr<MemorySource> source;  // null: the card's chunks
  bool no_split = false;                 // each segment holds one block
  bool use_on_oom = false;               // may serve requests of other pools that would fail
  bool is_waited_for = false;            // all work queued while it had users is done
  bool has_lost_memory = false;          // a replay would touch addresses without memory

  bool pinned() const { return uses > 0; }
  // True if the pool has segments of a fixed size instead of one that grows.
  bool has_fixed_segments() const { return no_split || source != nullptr; }
};

// The private pools of a card, and the routing of requests to them; also the movable owners, which
// requests name themselves, and the pools that take turns. Thread rule: none, guarded by the
// owner's lock.
class Pools {
 public:
  // Tells which streams' requests a routing takes. It is called in the requesting thread, under the
  // card's lock: it must not call the allocator.
  using StreamFilter = std::function<bool(StreamId)>;

  // Adds a user to the pool, which is made if it is new.
  Pool& Retain(const PoolId& id);

  // Removes a user. kNotFound if there is no such pool or it has no users.
  absl::Status Release(const PoolId& id);

  // Returns null if there is none: it was never retained, or has been forgotten.
  Pool* Find(const PoolId& id) const;

  // Removes the pool. REQUIRES: there is such a pool, and nothing refers to it.
  void Forget(const PoolId& id);

  // Serves requests that `filter` takes from the pool until EndRouting(). The first routing that
  // takes a request gets it. kAlreadyExists, kNotFound.
  absl::Status BeginRouting(const PoolId& id, StreamFilter filter);
  absl::Status EndRouting(const PoolId& id);

  bool IsRouted(const Pool& pool) const;
  bool routing() const { return !routings_.empty(); }

  // Returns the pool of a request on `stream`; null for the default pool.
  Pool* Route(StreamId stream) const;

  const std::vector<std::unique_ptr<Pool>>& all() const { return pools_; }
  MovableOwners& movable() { return movable_; }
  TakingTurns& turns() { return turns_; }

 private:
  struct Routing {
    Pool* pool = nullptr;
    StreamFilter filter;
  };

  std::vector<std::unique_ptr<Pool>> pools_;  // by age; few
  std::vector<Routing> routings_;
  MovableOwners movable_;
  TakingTurns turns_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_POOLS_H_
