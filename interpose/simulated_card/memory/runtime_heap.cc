// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/runtime_heap.h"

#include <iterator>
#include <limits>

#include "base/mutex.h"

namespace memtrace::card {

Result RuntimeHeap::Allocate(int device, std::uint64_t bytes, Address* begin, std::uint64_t owner) {
  if (bytes > std::numeric_limits<std::uint64_t>::max() - kGranularity) return Result::kOutOfMemory;
  const MutexLock lock(mutex_);
  const Result result = bytes < kGranularity
                            ? AllocateShared(device, RoundUp(bytes, kCut), begin)
                            : AllocateGranules(device, RoundUp(bytes, kGranularity), begin);
  if (result == Result::kSuccess) blocks_.emplace(*begin, Block{*begin, bytes, owner});
  return result;
}

Result RuntimeHeap::Free(Address begin) {
  const MutexLock lock(mutex_);
  const auto block = blocks_.find(begin);
  if (block == blocks_.end()) return Result::kInvalidValue;
  FreeLocked(block->second);
  blocks_.erase(block);
  return Result::kSuccess;
}

void RuntimeHeap::FreeAllOf(std::uint64_t owner) {
  const MutexLock lock(mutex_);
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const bool is_theirs = block->second.owner == owner;
    if (is_theirs) FreeLocked(block->second);
    block = is_theirs ? blocks_.erase(block) : std::next(block);
  }
}

void RuntimeHeap::FreeLocked(const Block& block) {
  if (block.bytes < kGranularity) {
    FreeShared(block.begin);
  } else {
    FreeGranules(block.begin, RoundUp(block.bytes, kGranularity));
  }
}

std::uint64_t RuntimeHeap::HeldBytes() const {
  const MutexLock lock(mutex_);
  return held_;
}

std::optional<RuntimeHeap::Block> RuntimeHeap::Find(Address address) const {
  const MutexLock lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (address - block.begin >= block.bytes) return std::nullopt;
  return block;
}

std::size_t RuntimeHeap::Live() const {
  const MutexLock lock(mutex_);
  return blocks_.size();
}

Result RuntimeHeap::AllocateGranules(int device, std::uint64_t bytes, Address* begin) {
  HandleId handle = 0;
  const Result created = space_.physical().Create(device, bytes, kind_, &handle);
  if (created != Result::kSuccess) return created;
  Address reserved;
  const Result placed = space_.ReserveForHeap(device, bytes, &reserved);
  if (placed == Result::kSuccess) {
    space_.Map(reserved, bytes, 0, handle);
    space_.SetAccess(reserved, bytes, device, Access::kReadWrite);
    *begin = reserved;
    held_ += bytes;
  }
  // The mapping keeps the memory; if there is none, this gives it back.
  space_.physical().Release(handle);
  return placed;
}

void RuntimeHeap::FreeGranules(Address begin, std::uint64_t bytes) {
  held_ -= bytes;
  space_.Unmap(begin, bytes);
  space_.FreeReservation(begin, bytes);
}

Result RuntimeHeap::AllocateShared(int device, std::uint64_t bytes, Address* begin) {
  for (auto& granule : shared_) {
    const Address place = granule.second.device == device ? BestFit(granule, bytes) : Address();
    if (place.is_null()) continue;
    granule.second.used.emplace(place, bytes);
    *begin = place;
    return Result::kSuccess;
  }
  const Result result = AllocateGranules(device, kGranularity, begin);
  if (result == Result::kSuccess) shared_.emplace(*begin, Granule{device, {{*begin, bytes}}});
  return result;
}

void RuntimeHeap::FreeShared(Address begin) {
  const auto granule = std::prev(shared_.upper_bound(begin));
  granule->second.used.erase(begin);
  if (!granule->second.used.empty()) return;
  FreeGranules(granule->first, kGranularity);
  shared_.erase(granule);
}

// Returns the smallest gap in a granule that fits, 0 if there is none.
Address RuntimeHeap::BestFit(const std::pair<const Address, Granule>& granule,
                             std::uint64_t bytes) {
  Address best;
  std::uint64_t best_room = kGranularity + 1;
  const auto consider = [&](Address begin, Address end) {
    if (end - begin < bytes || end - begin >= best_room) return;
    best = begin;
    best_room = end - begin;
  };
  Address begin = granule.first;
  for (const auto& [used_begin, used] : granule.second.used) {
    consider(begin, used_begin);
    begin = used_begin + used;
  }
  consider(begin, granule.first + kGranularity);
  return best;
}

}  // namespace memtrace::card
