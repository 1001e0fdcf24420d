// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/allocation_context.h"

namespace memtrace::recorder {

ContextTable::ContextTable() { chunks_[0] = new Chunk{}; }

ContextTable::~ContextTable() {
  for (auto& chunk : chunks_) delete chunk.load();
}

ScopeId ContextTable::Scope(trace::StringId owner, trace::StringId module) {
  if (owner == 0 && module == 0) return 0;
  const uint64_t key = uint64_t{owner} << 32 | module;
  MutexLock lock(mutex_);
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  const uint32_t id = count_.load(std::memory_order_relaxed);
  if (id == kMaxScopes) {
    const auto owner_alone = ids_.find(uint64_t{owner} << 32);
    return owner_alone == ids_.end() ? 0 : owner_alone->second;
  }
  auto& chunk = chunks_[id / kChunk];
  if (chunk.load() == nullptr) chunk = new Chunk{};
  (*chunk.load())[id % kChunk] = {.owner = owner, .module = module};
  count_.store(id + 1, std::memory_order_release);
  ids_.emplace(key, id);
  return id;
}

AllocationContext ContextTable::Unpack(uint64_t context) const {
  AllocationContext unpacked{.stack = static_cast<trace::StackId>(context)};
  const uint64_t scope = context >> 32;
  if (scope >= count_.load(std::memory_order_acquire)) return unpacked;
  const Pair& pair = (*chunks_[scope / kChunk].load(std::memory_order_acquire))[scope % kChunk];
  unpacked.owner = pair.owner;
  unpacked.module = pair.module;
  return unpacked;
}

}  // namespace memtrace::recorder
