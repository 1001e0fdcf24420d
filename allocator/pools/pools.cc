// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/pools.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace memtrace {
namespace {

std::string Name(const PoolId& id) { return absl::StrCat("(", id.first, ", ", id.second, ")"); }

}  // namespace

Pool* Pools::Find(const PoolId& id) const {
  for (const auto& pool : pools_) {
    if (pool->id == id) return pool.get();
  }
  return nullptr;
}

Pool& Pools::Retain(const PoolId& id) {
  Pool* pool = Find(id);
  if (pool == nullptr) {
    pools_.push_back(std::make_unique<Pool>(Pool{.id = id, .source = nullptr}));
    pool = pools_.back().get();
  }
  ++pool->uses;
  pool->is_waited_for = false;
  return *pool;
}

absl::Status Pools::Release(const PoolId& id) {
  Pool* pool = Find(id);
  if (pool == nullptr || pool->uses == 0) {
    return absl::NotFoundError(absl::StrCat("nobody uses a pool ", Name(id)));
  }
  --pool->uses;
  return absl::OkStatus();
}

void Pools::Forget(const PoolId& id) {
  std::erase_if(pools_, [&](const auto& pool) { return pool->id == id; });
}

absl::Status Pools::BeginRouting(const PoolId& id, StreamFilter filter) {
  Pool* pool = Find(id);
  if (pool == nullptr) return absl::NotFoundError(absl::StrCat("there is no pool ", Name(id)));
  for (const Routing& routing : routings_) {
    if (routing.pool != pool) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("requests are routed to the pool ", Name(id), " already"));
  }
  routings_.push_back({pool, std::move(filter)});
  return absl::OkStatus();
}

absl::Status Pools::EndRouting(const PoolId& id) {
  const size_t ended =
      std::erase_if(routings_, [&](const Routing& routing) { return routing.pool->id == id; });
  if (ended > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no requests are routed to a pool ", Name(id)));
}

bool Pools::IsRouted(const Pool& pool) const {
  return std::any_of(routings_.begin(), routings_.end(),
                     [&](const Routing& routing) { return routing.pool == &pool; });
}

Pool* Pools::Route(StreamId stream) const {
  for (const Routing& routing : routings_) {
    if (routing.filter(stream)) return routing.pool;
  }
  return nullptr;
}

}  // namespace memtrace
