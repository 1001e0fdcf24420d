// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/device_history.h"

#include <utility>

#include "base/mutex.h"

namespace memtrace::shim {

void DeviceHistory::SetCapacity(std::size_t most_entries) {
  const MutexLock lock(mutex_);
  entries_.SetCapacity(most_entries);
}

void DeviceHistory::Clear() {
  const MutexLock lock(mutex_);
  entries_.Clear();
}

DeviceHistory::Context DeviceHistory::ContextOf(Entry::Action action, std::size_t address,
                                                const Context& callers) {
  const MutexLock lock(mutex_);
  const auto block = blocks_.find(address);
  const Context known = block == blocks_.end() ? nullptr : block->second;
  if (action == Entry::FREE_COMPLETED && block != blocks_.end()) blocks_.erase(block);
  if (action == Entry::ALLOC && callers != nullptr) blocks_[address] = callers;
  const bool is_free = action == Entry::FREE_REQUESTED || action == Entry::FREE_COMPLETED;
  return callers == nullptr && is_free ? known : callers;
}

void DeviceHistory::Add(Entry entry) {
  const MutexLock lock(mutex_);
  entries_.Add(std::move(entry));
}

std::vector<DeviceHistory::Entry> DeviceHistory::Entries() const {
  const MutexLock lock(mutex_);
  return entries_.Entries();
}

DeviceHistory::Context DeviceHistory::OfBlock(std::size_t address) const {
  const MutexLock lock(mutex_);
  const auto block = blocks_.find(address);
  return block == blocks_.end() ? nullptr : block->second;
}

}  // namespace memtrace::shim
