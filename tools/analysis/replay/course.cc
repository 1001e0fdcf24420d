// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/course.h"

#include <utility>

namespace memtrace::replay {

void Course::See(const trace::Event& event) {
  const auto& moments = recorded_.empty_cache;
  while (emptied_ < moments.size() && moments[emptied_] <= event.sequence) {
    EndFree();
    policy_.EmptyCache();
    ++emptied_;
  }
  lives_.Apply(event.payload, [&](const auto& happened) { Apply(event.sequence, happened); });
}

void Course::Apply(uint64_t sequence, const Lives::Born& born) {
  const trace::Allocate& block = born.allocation;
  ++allocations_;
  const auto placed = Serve(sequence, {block.requested, StreamId{block.stream}, block.pool});
  if (!placed) return;
  born.block = placed->block;
  if (sink_) sink_(sequence, device_, *placed);
}

void Course::Apply(uint64_t sequence, const Lives::Found& found) {
  const trace::Allocate& block = found.alive.block;
  const auto placed = Serve(sequence, {block.requested, StreamId{block.stream}, block.pool});
  if (!placed) return;
  found.block = placed->block;
  if (found.alive.waiting != 0) LetGo(found.block);
}

void Course::Apply(uint64_t, const Lives::LetGo& let_go) { LetGo(let_go.block); }

void Course::LetGo(std::optional<BlockNumber> block) {
  EndFree();
  let_go_ = block;
}

void Course::Apply(uint64_t, const Lives::Ended& ended) {
  const bool is_at_once = ended.block && let_go_ == ended.block;
  if (is_at_once) let_go_.reset();
  EndFree();
  if (!ended.block) return;
  if (is_at_once) {
    policy_.Free(*ended.block);
  } else {
    policy_.CompleteFree(*ended.block);
  }
}

void Course::Apply(uint64_t, const Lives::Stray&) { EndFree(); }

// The block is freed at once, because it is not known how long it would have lived.
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
  if (const auto block = std::exchange(let_go_, std::nullopt)) policy_.RequestFree(*block);
}

}  // namespace memtrace::replay
