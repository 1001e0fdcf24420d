// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/change_watch.h"

#include "base/mutex.h"

namespace memtrace {
bool ChangeWatch::Watch(Function function, void* user) {
  const MutexLock lock(mutex_);
  if (is_watched_.load(std::memory_order_relaxed)) return false;
  function_ = function;
  user_ = user;
  is_watched_.store(true, std::memory_order_release);
  SetObservesBlocks(true);
  return true;
}

template <typename Event>
void ChangeWatch::Notify(memtrace_change_kind kind, const Event& event, Bytes bytes) const {
  if (!is_watched_.load(std::memory_order_acquire)) return;
  const memtrace_change change{.size = sizeof(memtrace_change),
                               .kind = kind,
                               .device = static_cast<int32_t>(event.device),
                               .address = event.address.value(),
                               .bytes = bytes,
                               .stream = static_cast<uint64_t>(event.stream),
                               .pool = {event.pool.first, event.pool.second}};
  function_(user_, &change);
}

void ChangeWatch::Allocated(const BlockEvent& block) {
  if (next_ != nullptr) next_->Allocated(block);
  Notify(MEMTRACE_CHANGE_ALLOCATED, block, block.requested);
}

void ChangeWatch::FreeRequested(const BlockEvent& block) {
  if (next_ != nullptr) next_->FreeRequested(block);
  Notify(MEMTRACE_CHANGE_FREE_REQUESTED, block, block.requested);
}

void ChangeWatch::FreeCompleted(const BlockEvent& block) {
  if (next_ != nullptr) next_->FreeCompleted(block);
  Notify(MEMTRACE_CHANGE_FREE_COMPLETED, block, block.requested);
}

void ChangeWatch::Freed(const BlockEvent& block) {
  if (next_ != nullptr) next_->Freed(block);
  Notify(MEMTRACE_CHANGE_FREE_REQUESTED, block, block.requested);
  Notify(MEMTRACE_CHANGE_FREE_COMPLETED, block, block.requested);
}

void ChangeWatch::Reserved(const RangeEvent& range) {
  cards_.Add(range.address, range.size, static_cast<int>(range.device));
  if (next_ != nullptr) next_->Reserved(range);
}

void ChangeWatch::Mapped(const RangeEvent& range) {
  if (next_ != nullptr) next_->Mapped(range);
  Notify(MEMTRACE_CHANGE_MAPPED, range, range.size);
}

void ChangeWatch::Unmapped(const RangeEvent& range) {
  if (next_ != nullptr) next_->Unmapped(range);
  Notify(MEMTRACE_CHANGE_UNMAPPED, range, range.size);
}

void ChangeWatch::OutOfMemory(const OutOfMemoryEvent& event) {
  if (next_ != nullptr) next_->OutOfMemory(event);
}

}  // namespace memtrace
