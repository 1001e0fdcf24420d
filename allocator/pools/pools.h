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
#include "base/units.h"

namespace memtrace {

// A private pool: memory that only those get who ask for it, because a captured graph writes to its
// addresses at every replay, or because it has properties of its own (torch.cuda.MemPool).
//
// While it has users, what lies free in it stays mapped: a replay uses it though nobody has
// allocated it. A pool that has lost its last user is as good as the default pool's cache.
struct Pool {
  PoolId id;
  int uses = 0;                          // graphs, MemPool objects, routings
  std::shared_ptr<MemorySource> source;  // null: chunks of the card
  bool no_split = false;                 // a segment holds one block
  bool use_on_oom = false;               // a request elsewhere that fails may be served from here
  bool is_waited_for = false;            // nothing that was queued while it had users is unfinished

  bool pinned() const { return uses > 0; }
  // Segments of a fixed size instead of one that grows.
  bool has_fixed_segments() const { return no_split || source != nullptr; }
};

// The private pools of a card, and which streams' requests go to which. Thread rule: none, the
// owner's lock guards it.
class Pools {
 public:
  // Which requests a routing takes: those of the streams that it says true for. Asked in the
  // requesting thread, under the card's lock: it must not call the allocator.
  using StreamFilter = std::function<bool(StreamId)>;

  // The pool, made if it is new, with one more user.
  Pool& Retain(const PoolId& id);

  // With one user less. kNotFound if there is no such pool or it has none.
  absl::Status Release(const PoolId& id);

  // Null if there is none: it has never been retained, or was forgotten.
  Pool* Find(const PoolId& id) const;

  // REQUIRES: there is such a pool, and nothing refers to it.
  void Forget(const PoolId& id);

  // Requests that `filter` takes go to the pool until EndRouting(). The first routing that takes a
  // request gets it. kAlreadyExists, kNotFound.
  absl::Status BeginRouting(const PoolId& id, StreamFilter filter);
  absl::Status EndRouting(const PoolId& id);

  bool IsRouted(const Pool& pool) const;
  bool routing() const { return !routings_.empty(); }

  // The pool of a request on `stream`, null for the default one.
  Pool* Route(StreamId stream) const;

  const std::vector<std::unique_ptr<Pool>>& all() const { return pools_; }

 private:
  struct Routing {
    Pool* pool = nullptr;
    StreamFilter filter;
  };

  std::vector<std::unique_ptr<Pool>> pools_;  // by age; few
  std::vector<Routing> routings_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_POOLS_H_
