// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/graph_turns.h"

#include <algorithm>

#include "base/status_macros.h"

namespace memtrace {

absl::Status GraphTurns::Share(const std::vector<PoolId>& pools, TakingTurns::Shared& shared) {
  {
    const CardLock::Holder lock(lock_);
    if (Known(pools).size() < 2) return absl::NotFoundError("fewer than two of the pools");
    if (heap_.groups().IsAnyCaptured()) return absl::UnavailableError("a graph is being captured");
  }
  // Without the lock, because work on the card may wait for a thread that needs it.
  MEMTRACE_RETURN_IF_ERROR(events_.WaitForAll());
  const CardLock::Holder lock(lock_);
  if (heap_.groups().IsAnyCaptured()) return absl::UnavailableError("a graph is being captured");
  heap_.waiting().CompleteFinished();
  heap_.groups().MergeRecent();
  heap_.leaving().KeepAll();
  shared = heap_.pools().turns().Begin(heap_.groups(), Known(pools));
  return absl::OkStatus();
}

GraphTurns::Obstacle GraphTurns::ObstacleOf(const PoolId& pool) {
  const CardLock::Holder lock(lock_);
  Obstacle obstacle;
  const Pool* known = heap_.pools().Find(pool);
  if (known == nullptr) return obstacle;
  obstacle.has_lost_memory = known->has_lost_memory;
  for (const auto& group : heap_.groups().all()) {
    if (group->pool() != known || !group->key().is_movable()) continue;
    if (!heap_.pools().movable().IsAwake(group->key().movable))
      obstacle.asleep = group->key().movable;
  }
  return obstacle;
}

// Without those that appear twice.
std::vector<Pool*> GraphTurns::Known(const std::vector<PoolId>& pools) const {
  std::vector<Pool*> known;
  for (const PoolId& id : pools) {
    Pool* pool = heap_.pools().Find(id);
    if (pool != nullptr && std::find(known.begin(), known.end(), pool) == known.end())
      known.push_back(pool);
  }
  return known;
}

}  // namespace memtrace
