// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/memory_pools.h"

#include <algorithm>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kStep = 32ull << 20;  // by which a pool grows

}  // namespace

MemoryPools::MemoryPools(AddressSpace& space, Cards& cards) : space_(space), cards_(cards) {
  for (std::size_t device = 0; device < cards.size(); ++device) {
    auto pool = std::make_unique<MemoryPool>(space, static_cast<int>(device));
    defaults_.push_back(pool.get());
    pools_.emplace(pool.get(), std::move(pool));
  }
  current_ = defaults_;
}

MemoryPool* MemoryPools::Find(const void* pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : found->second.get();
}

MemoryPool* MemoryPools::Default(int device) { return defaults_[static_cast<std::size_t>(device)]; }

MemoryPool* MemoryPools::Current(int device) {
  const MutexLock lock(mutex_);
  return current_[static_cast<std::size_t>(device)];
}

Result MemoryPools::SetCurrent(int device, const void* pool) {
  const MutexLock lock(mutex_);
  MemoryPool* found = Find(pool);
  if (found == nullptr || found->device != device) return Result::kInvalidValue;
  current_[static_cast<std::size_t>(device)] = found;
  return Result::kSuccess;
}

MemoryPool* MemoryPools::Create(int device) {
  auto pool = std::make_unique<MemoryPool>(space_, device);
  MemoryPool* const handle = pool.get();
  const MutexLock lock(mutex_);
  pools_.emplace(handle, std::move(pool));
  return handle;
}

Result MemoryPools::Destroy(const void* handle) {
  const MutexLock lock(mutex_);
  MemoryPool* pool = Find(handle);
  if (pool == nullptr || !pool->blocks.empty()) return Result::kInvalidValue;
  const auto device = static_cast<std::size_t>(pool->device);
  if (pool == defaults_[device]) return Result::kInvalidValue;
  if (pool == current_[device]) current_[device] = defaults_[device];
  TrimLocked(*pool, 0);
  pools_.erase(handle);
  return Result::kSuccess;
}

Result MemoryPools::Allocate(const void* handle, std::uint64_t bytes, Address* begin) {
  const MutexLock lock(mutex_);
  MemoryPool* pool = Find(handle);
  if (pool == nullptr) return Result::kInvalidValue;
  return AllocateLocked(*pool, bytes, begin);
}

Result MemoryPools::AllocateLocked(MemoryPool& pool, std::uint64_t bytes, Address* begin) {
  const Result placed = pool.heap.Allocate(pool.device, bytes, begin);
  if (placed != Result::kSuccess) return placed;
  PoolFigures& figures = pool.figures;
  const std::uint64_t held = RoundUp(pool.heap.HeldBytes(), kStep);
  if (held > figures.reserved) {
    Card& card = *cards_[static_cast<std::size_t>(pool.device)];
    if (!card.Charge(ChargeKind::kRuntime, held - figures.reserved)) {
      pool.heap.Free(*begin);
      return Result::kOutOfMemory;
    }
    figures.reserved = held;
  }
  figures.used += bytes;
  figures.used_high = std::max(figures.used_high, figures.used);
  figures.reserved_high = std::max(figures.reserved_high, figures.reserved);
  pool.blocks.emplace(*begin, bytes);
  return Result::kSuccess;
}

Result MemoryPools::Free(Address begin, Block* freed) {
  const MutexLock lock(mutex_);
  for (const auto& [handle, pool] : pools_) {
    const auto block = pool->blocks.find(begin);
    if (block == pool->blocks.end()) continue;
    pool->figures.used -= block->second;
    if (freed != nullptr)
      *freed = {.pool = pool.get(), .bytes = block->second, .device = pool->device};
    pool->blocks.erase(block);
    return pool->heap.Free(begin);
  }
  return Result::kInvalidValue;
}

void MemoryPools::TrimLocked(MemoryPool& pool, std::uint64_t keep) {
  const std::uint64_t stays = std::max(RoundUp(pool.heap.HeldBytes(), kStep), keep);
  if (stays >= pool.figures.reserved) return;
  cards_[static_cast<std::size_t>(pool.device)]->Discharge(ChargeKind::kRuntime,
                                                           pool.figures.reserved - stays);
  pool.figures.reserved = stays;
}

Result MemoryPools::Trim(const void* handle, std::uint64_t keep) {
  const MutexLock lock(mutex_);
  MemoryPool* pool = Find(handle);
  if (pool == nullptr) return Result::kInvalidValue;
  TrimLocked(*pool, keep);
  return Result::kSuccess;
}

void MemoryPools::TrimToThresholds() {
  const MutexLock lock(mutex_);
  for (const auto& [handle, pool] : pools_) TrimLocked(*pool, pool->release_threshold);
}

Result MemoryPools::Figures(const void* handle, PoolFigures* figures) const {
  const MutexLock lock(mutex_);
  const MemoryPool* pool = Find(handle);
  if (pool == nullptr) return Result::kInvalidValue;
  *figures = pool->figures;
  return Result::kSuccess;
}

Result MemoryPools::ResetHighMarks(const void* handle, bool reserved, bool used) {
  return Configure(handle, [&](MemoryPool& pool) {
    if (reserved) pool.figures.reserved_high = pool.figures.reserved;
    if (used) pool.figures.used_high = pool.figures.used;
  });
}

}  // namespace memtrace::card
