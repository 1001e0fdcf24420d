// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <iterator>

#include "base/mutex.h"
#include "interpose/simulated_card/memory/host_refusals.h"

namespace memtrace::card {

Result HostMemory::Allocate(std::size_t bytes, int device, void** begin, std::uint64_t owner) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    WarnHostRefused(HostNeed::kPinnedMemory, bytes, errno);
    return Result::kOutOfMemory;
  }
  *begin = mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const MutexLock lock(mutex_);
  ranges_.emplace(address, Range{address, bytes, device, /*ours=*/true, owner});
  return Result::kSuccess;
}

Result HostMemory::Free(void* begin) {
  const MutexLock lock(mutex_);
  const auto range = ranges_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (range == ranges_.end() || !range->second.ours) return Result::kInvalidValue;
  munmap(begin, range->second.bytes);
  ranges_.erase(range);
  return Result::kSuccess;
}

void HostMemory::FreeAllOf(std::uint64_t owner) {
  const MutexLock lock(mutex_);
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const bool is_theirs = range->second.ours && range->second.owner == owner;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the key is the address.
    if (is_theirs) munmap(reinterpret_cast<void*>(range->first), range->second.bytes);
    range = is_theirs ? ranges_.erase(range) : std::next(range);
  }
}

Result HostMemory::Register(void* begin, std::size_t bytes, int device) {
  if (begin == nullptr || bytes == 0) return Result::kInvalidValue;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const MutexLock lock(mutex_);
  const auto next = ranges_.lower_bound(address);
  const bool overlaps_next = next != ranges_.end() && next->first - address < bytes;
  if (overlaps_next || FindLocked(address)) return Result::kHostMemoryAlreadyRegistered;
  ranges_.emplace(address, Range{address, bytes, device, /*ours=*/false, /*owner=*/0});
  return Result::kSuccess;
}

Result HostMemory::Unregister(void* begin) {
  const MutexLock lock(mutex_);
  const auto range = ranges_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (range == ranges_.end() || range->second.ours) return Result::kHostMemoryNotRegistered;
  ranges_.erase(range);
  return Result::kSuccess;
}

std::optional<HostMemory::Range> HostMemory::Find(const void* address) const {
  const MutexLock lock(mutex_);
  return FindLocked(reinterpret_cast<std::uintptr_t>(address));
}

std::optional<HostMemory::Range> HostMemory::FindLocked(std::uintptr_t address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = std::prev(after)->second;
  if (address - range.begin >= range.bytes) return std::nullopt;
  return range;
}

std::size_t HostMemory::Live() const {
  const MutexLock lock(mutex_);
  return ranges_.size();
}

}  // namespace memtrace::card
