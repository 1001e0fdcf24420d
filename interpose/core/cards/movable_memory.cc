// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/movable_memory.h"

#include <map>
#include <utility>

#include "absl/container/btree_map.h"

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;

void Add(const Sleep::Moved& one, Sleep::Moved& sum) {
  sum.bytes += one.bytes;
  sum.host += one.host;
  sum.is_pinned = sum.is_pinned && one.is_pinned;
  sum.has_graph = sum.has_graph || one.has_graph;
}

// Notes why a card refused.
void Blame(const Sleep::Moved& one, Sleep::Moved& sum) {
  sum.needed = one.needed;
  sum.available = one.available;
  sum.shared = one.shared;
}

}  // namespace

absl::Status MovableMemory::PutToSleep(MovableOwner owner, Sleep::Keep keep, Sleep::Moved& moved) {
  moves_.clear();
  for (const Card& card : Cards()) {
    const auto begin = Clock::now();
    Sleep::Moved one;
    const absl::Status status = card.sleep->PutToSleep(owner, keep, one);
    if (absl::IsNotFound(status)) continue;
    if (!status.ok()) {
      Undo(owner);
      moved.bytes = 0;
      Blame(one, moved);
      return status;
    }
    moves_.push_back({card.device, one, Clock::now() - begin});
    Add(one, moved);
  }
  return moves_.empty() ? absl::NotFoundError("no card has memory of the owner") : absl::OkStatus();
}

void MovableMemory::Undo(MovableOwner owner) {
  for (const CardMove& move : std::exchange(moves_, {})) {
    Sleep::Moved undone;
    // It can be woken by the program as well.
    cards_.allocator(move.device)->movement().sleep().Wake(owner, undone).IgnoreError();
  }
}

// Returns what the owner's memory on a card keeps asleep.
Sleep::Keep MovableMemory::KeepOf(const Card& card, MovableOwner owner) {
  for (const Sleep::Owner& one : card.sleep->owners())
    if (one.owner == owner) return one.keep;
  return Sleep::Keep::kHost;
}

// Puts the cards that woke back to sleep, as they were. One that cannot stays awake: nothing is
// lost.
void MovableMemory::UndoWake(MovableOwner owner, const std::map<int, Sleep::Keep>& kept) {
  for (const CardMove& move : std::exchange(moves_, {})) {
    Sleep::Moved undone;
    cards_.allocator(move.device)
        ->movement()
        .sleep()
        .PutToSleep(owner, kept.at(move.device), undone)
        .IgnoreError();
  }
}

absl::Status MovableMemory::Wake(MovableOwner owner, Sleep::Moved& moved) {
  moves_.clear();
  absl::Status first_failure;
  std::map<int, Sleep::Keep> kept;
  bool is_known = false;
  for (const Card& card : Cards()) {
    const auto begin = Clock::now();
    Sleep::Moved one;
    kept[card.device] = KeepOf(card, owner);
    const absl::Status status = card.sleep->Wake(owner, one);
    if (absl::IsNotFound(status)) continue;
    is_known = true;
    if (!status.ok() && first_failure.ok()) Blame(one, moved);
    if (status.ok()) {
      moves_.push_back({card.device, one, Clock::now() - begin});
      Add(one, moved);
    }
    first_failure.Update(status);
  }
  if (!first_failure.ok() && !moves_.empty()) {
    UndoWake(owner, kept);
    moved.bytes = moved.host = 0;
  }
  return is_known ? first_failure : absl::NotFoundError("the owner is not asleep");
}

std::vector<Sleep::Owner> MovableMemory::owners() {
  absl::btree_map<MovableOwner, Sleep::Owner> sums;
  for (const Card& card : Cards()) {
    for (const Sleep::Owner& one : card.sleep->owners()) {
      Sleep::Owner& sum = sums[one.owner];
      sum.owner = one.owner;
      if (one.is_asleep) sum.keep = one.keep;
      sum.is_asleep = sum.is_asleep || one.is_asleep;
      sum.on_card += one.on_card;
      sum.asleep += one.asleep;
      sum.host += one.host;
    }
  }
  std::vector<Sleep::Owner> owners;
  owners.reserve(sums.size());
  for (const auto& [id, owner] : sums) owners.push_back(owner);
  return owners;
}

absl::Status MovableMemory::Read(DeviceAddress address, Bytes bytes, void* host) {
  absl::Status status = absl::NotFoundError("the memory does not sleep with a copy");
  for (const Card& card : Cards()) {
    if (!status.ok()) status = card.sleep->Read({address, address + bytes}, host);
  }
  return status;
}

MovableOwner MovableMemory::OwnerAsleepAt(DeviceAddress address) {
  for (const Card& card : Cards()) {
    if (const MovableOwner owner = card.sleep->OwnerAsleepAt(address); owner != MovableOwner{})
      return owner;
  }
  return {};
}

Bytes MovableMemory::pooled() {
  Bytes sum = 0;
  for (const Card& card : Cards()) sum += card.sleep->pooled();
  return sum;
}

Bytes MovableMemory::ReleaseHostMemory() {
  Bytes sum = 0;
  for (const Card& card : Cards()) sum += card.sleep->ReleaseHostMemory();
  return sum;
}

std::vector<MovableMemory::Card> MovableMemory::Cards() const {
  std::vector<Card> cards;
  for (int device = 0; device < cards_.device_count(); ++device) {
    if (CachingAllocator* allocator = cards_.allocator(device))
      cards.push_back({device, &allocator->movement().sleep()});
  }
  return cards;
}

}  // namespace memtrace
