// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/course.h"

#include <variant>

namespace memtrace::replay {

void Course::See(const trace::Event& event) {
  const auto& moments = recorded_.empty_cache;
  while (emptied_ < moments.size() && moments[emptied_] <= event.sequence) {
    EndFree();
    policy_.EmptyCache();
    ++emptied_;
  }
  std::visit([&](const auto& payload) { Apply(event.sequence, payload); }, event.payload);
}

void Course::Apply(uint64_t sequence, const trace::Allocate& block) {
  ++allocations_;
  Forget(block.address);
  const auto placed = Serve(sequence, {block.requested, StreamId{block.stream}, block.pool});
  if (!placed) return;
  live_[block.address] = {placed->block, false};
  if (sink_) sink_(sequence, device_, *placed);
}

void Course::Apply(uint64_t sequence, const trace::Alive& alive) {
  const trace::Allocate& block = alive.block;
  Forget(block.address);
  const auto placed = Serve(sequence, {block.requested, StreamId{block.stream}, block.pool});
  if (!placed) return;
  live_[block.address] = {placed->block, false};
  if (alive.waiting != 0) Apply(sequence, trace::FreeRequested{device_, block.address});
}

void Course::Apply(uint64_t, const trace::FreeRequested& free) {
  EndFree();
  freed_ = free.address;
}

void Course::Apply(uint64_t, const trace::FreeCompleted& free) {
  if (freed_ == free.address) freed_.reset();
  Forget(free.address);
}

// It is not known how long the block would have lived.
void Course::Apply(uint64_t sequence, const trace::OutOfMemory& failure) {
  EndFree();
  const auto placed = Serve(sequence, {failure.requested, StreamId{failure.stream}, 0});
  if (placed) policy_.Free(placed->block);
}

std::optional<Placed> Course::Serve(uint64_t sequence, const Request& request) {
  EndFree();
  if (request.bytes == 0) return std::nullopt;
  auto placed = policy_.Allocate(request);
  if (placed) return placed;
  if (failures_++ == 0) first_failure_ = Failure{sequence, request.bytes};
  return std::nullopt;
}

void Course::EndFree() {
  if (!freed_) return;
  const auto found = live_.find(*freed_);
  freed_.reset();
  if (found == live_.end() || found->second.is_waiting) return;
  found->second.is_waiting = true;
  policy_.RequestFree(found->second.block);
}

// Also of a block whose free was lost.
void Course::Forget(uint64_t address) {
  EndFree();
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  if (found->second.is_waiting) {
    policy_.CompleteFree(found->second.block);
  } else {
    policy_.Free(found->second.block);
  }
  live_.erase(found);
}

}  // namespace memtrace::replay
