// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/waiting_frees.h"

#include <algorithm>
#include <utility>

namespace memtrace {

WaitingFrees::WaitingFrees(StreamEvents& events, CaptureGraphs* captures, const Pools& pools,
                           const SegmentGroups& groups)
    : events_(events), pools_(pools), groups_(groups), pending_(events), captures_(captures) {}

void WaitingFrees::Add(Block* block) {
  // If the driver cannot record an event, the caller cannot help it: the block is put off.
  const bool is_captured = MustBePostponed(*block);
  if (is_captured) NoteLastUses(block);
  if (is_captured || !pending_.Add(block).ok()) {
    Postpone(block);
  } else {
    groups_.OwnerOf(*block).StartWaiting(block);
  }
}

void WaitingFrees::Postpone(Block* block) {
  groups_.OwnerOf(*block).StartWaiting(block);
  postponed_.push_back(block);
}

bool WaitingFrees::MustBePostponed(const Block& block) const {
  if (!pools_.routing()) return false;
  return std::any_of(block.recorded_streams.begin(), block.recorded_streams.end(),
                     [&](StreamId stream) { return events_.IsCapturing(stream); });
}

// Only for blocks of a pool: the default pool's memory may be handed out outside the graph, where
// nothing orders it after the graph's streams.
void WaitingFrees::NoteLastUses(Block* block) {
  const Pool* pool = groups_.OwnerOf(*block).pool();
  if (pool != nullptr && pools_.IsRouted(*pool)) captures_.Add(block);
}

void WaitingFrees::CompleteDone(StreamId stream) {
  if (!postponed_.empty()) CompleteOrdered(stream);
  CompleteFinished();
}

void WaitingFrees::CompleteFinished() {
  ResumePostponed();
  if (pending_.empty()) return;
  while (Block* block = pending_.Poll()) Complete(block);
}

void WaitingFrees::CompleteOrdered(StreamId stream) {
  for (Block* block : captures_.TakeOrdered(stream)) {
    std::erase(postponed_, block);
    Complete(block);
  }
}

void WaitingFrees::ResumePostponed() {
  if (postponed_.empty() || pools_.routing()) return;
  std::erase_if(postponed_, [&](Block* block) { return pending_.Add(block).ok(); });
}

// Waits for all work, because some streams can no longer record an event.
void WaitingFrees::CompletePostponed() {
  if (postponed_.empty() || pools_.routing() || groups_.IsAnyCaptured()) return;
  if (!events_.WaitForAll().ok()) return;
  for (Block* block : std::exchange(postponed_, {})) Complete(block);
}

absl::Status WaitingFrees::CompleteNext() {
  const absl::StatusOr<Block*> done = pending_.WaitForNext();
  if (done.ok()) Complete(*done);
  return done.status();
}

absl::Status WaitingFrees::CompleteAllOf(const PoolId* pool) {
  while (pool == nullptr ? !pending_.empty() : pending_.HasAny(*pool)) {
    if (absl::Status done = CompleteNext(); !done.ok()) return done;
  }
  return absl::OkStatus();
}

void WaitingFrees::Drain() {
  ResumePostponed();
  while (!pending_.empty() && pending_.WaitForNext().ok()) {
  }
}

void WaitingFrees::Complete(Block* block) { groups_.OwnerOf(*block).FinishWaiting(block); }

}  // namespace memtrace
