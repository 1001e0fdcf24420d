// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/allocation_context.h"

namespace memtrace::recorder {

ContextTable::ContextTable() { chunks_[0] = new Chunk{}; }

ContextTable::~ContextTable() {
  for (auto& chunk : chunks_) delete chunk.load();
}

ScopeId ContextTable::Number(const Scope& scope) {
  if (scope == Scope{}) return 0;
  SpinMutexLock lock(mutex_);
  if (const auto known = ids_.find(scope); known != ids_.end()) return known->second;
  const uint32_t id = count_.load(std::memory_order_relaxed);
  if (id == kMaxScopes) {
    const auto owner_alone = ids_.find(Scope{.owner = scope.owner});
    return owner_alone == ids_.end() ? 0 : owner_alone->second;
  }
  auto& chunk = chunks_[id / kChunk];
  if (chunk.load() == nullptr) chunk = new Chunk{};
  (*chunk.load())[id % kChunk] = scope;
  count_.store(id + 1, std::memory_order_release);
  ids_.emplace(scope, id);
  return id;
}

Scope ContextTable::ScopeOf(ScopeId number) const {
  if (number >= count_.load(std::memory_order_acquire)) return {};
  return (*chunks_[number / kChunk].load(std::memory_order_acquire))[number % kChunk];
}

AllocationContext ContextTable::Unpack(ContextId context) const {
  const auto packed = static_cast<uint64_t>(context);
  const Scope scope = ScopeOf(static_cast<ScopeId>(packed >> 32));
  return {.stack = static_cast<trace::StackId>(packed),
          .owner = scope.owner,
          .module = scope.module,
          .role = scope.role};
}

}  // namespace memtrace::recorder
