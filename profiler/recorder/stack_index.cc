// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_index.h"

namespace memtrace::recorder {
namespace {

constexpr size_t kFirstCapacity = 4096;  // 64 KiB; a training step has some hundred stacks

}  // namespace

StackIndex::StackIndex() {
  tables_.push_back(std::make_unique<Table>(kFirstCapacity));
  current_ = tables_.back().get();
}

trace::StackId StackIndex::Find(uint64_t hash) const {
  const Table& table = *current_.load(std::memory_order_acquire);
  for (size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    const Slot& slot = table.slots[at];
    const uint64_t found = slot.hash.load(std::memory_order_acquire);
    if (found == hash) return slot.id;
    if (found == 0) return 0;
  }
}

void StackIndex::Insert(uint64_t hash, trace::StackId id) {
  if (2 * (size_ + 1) > tables_.back()->mask + 1) Grow();
  if (InsertInto(*tables_.back(), hash, id)) ++size_;
}

bool StackIndex::InsertInto(Table& table, uint64_t hash, trace::StackId id) {
  for (size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    Slot& slot = table.slots[at];
    const uint64_t found = slot.hash.load(std::memory_order_relaxed);
    if (found == hash) return false;
    if (found != 0) continue;
    slot.id = id;
    slot.hash.store(hash, std::memory_order_release);
    return true;
  }
}

void StackIndex::Grow() {
  const Table& old = *tables_.back();
  auto larger = std::make_unique<Table>(2 * (old.mask + 1));
  for (size_t at = 0; at <= old.mask; ++at) {
    const uint64_t hash = old.slots[at].hash.load(std::memory_order_relaxed);
    if (hash != 0) InsertInto(*larger, hash, old.slots[at].id);
  }
  tables_.push_back(std::move(larger));
  current_.store(tables_.back().get(), std::memory_order_release);
}

}  // namespace memtrace::recorder
