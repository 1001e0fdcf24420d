// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/change_watch.h"

namespace memtrace {
namespace {

// Of a block or of a range.
template <typename Event>
memtrace_change ChangeOf(memtrace_change_kind kind, const Event& event, Bytes bytes) {
  return {.size = sizeof(memtrace_change),
          .kind = kind,
          .device = static_cast<int32_t>(event.device),
          .address = event.address,
          .bytes = bytes,
          .stream = static_cast<uint64_t>(event.stream),
          .pool = {event.pool.first, event.pool.second}};
}

}  // namespace

bool ChangeWatch::Watch(Function function, void* user) {
  const std::lock_guard lock(mutex_);
  if (is_watched_.load(std::memory_order_relaxed)) return false;
  function_ = function;
  user_ = user;
  is_watched_.store(true, std::memory_order_release);
  return true;
}

void ChangeWatch::Tell(memtrace_change_kind kind, const BlockEvent& block) const {
  if (!is_watched_.load(std::memory_order_acquire)) return;
  const memtrace_change change = ChangeOf(kind, block, block.requested);
  function_(user_, &change);
}

void ChangeWatch::Tell(memtrace_change_kind kind, const RangeEvent& range) const {
  if (!is_watched_.load(std::memory_order_acquire)) return;
  const memtrace_change change = ChangeOf(kind, range, range.size);
  function_(user_, &change);
}

void ChangeWatch::Allocated(const BlockEvent& block) {
  next_->Allocated(block);
  Tell(MEMTRACE_CHANGE_ALLOCATED, block);
}

void ChangeWatch::FreeRequested(const BlockEvent& block) {
  next_->FreeRequested(block);
  Tell(MEMTRACE_CHANGE_FREE_REQUESTED, block);
}

void ChangeWatch::FreeCompleted(const BlockEvent& block) {
  next_->FreeCompleted(block);
  Tell(MEMTRACE_CHANGE_FREE_COMPLETED, block);
}

void ChangeWatch::Reserved(const RangeEvent& range) { next_->Reserved(range); }

void ChangeWatch::Mapped(const RangeEvent& range) {
  next_->Mapped(range);
  Tell(MEMTRACE_CHANGE_MAPPED, range);
}

void ChangeWatch::Unmapped(const RangeEvent& range) {
  next_->Unmapped(range);
  Tell(MEMTRACE_CHANGE_UNMAPPED, range);
}

void ChangeWatch::OutOfMemory(const OutOfMemoryEvent& event) { next_->OutOfMemory(event); }

}  // namespace memtrace
