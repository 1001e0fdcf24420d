// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/movable_memory.h"

#include "absl/container/btree_map.h"

namespace memtrace {
namespace {

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
  std::vector<Sleep*> asleep;
  for (Sleep* card : Sleeps()) {
    Sleep::Moved one;
    const absl::Status status = card->PutToSleep(owner, keep, one);
    if (absl::IsNotFound(status)) continue;
    if (status.ok()) {
      asleep.push_back(card);
      Add(one, moved);
      continue;
    }
    for (Sleep* before : asleep) {
      Sleep::Moved undone;
      before->Wake(owner, undone).IgnoreError();  // it can be woken by the program as well
    }
    moved.bytes = 0;
    Blame(one, moved);
    return status;
  }
  return asleep.empty() ? absl::NotFoundError("no card has memory of the owner") : absl::OkStatus();
}

absl::Status MovableMemory::Wake(MovableOwner owner, Sleep::Moved& moved) {
  absl::Status first_failure;
  bool is_known = false;
  for (Sleep* card : Sleeps()) {
    Sleep::Moved one;
    const absl::Status status = card->Wake(owner, one);
    if (absl::IsNotFound(status)) continue;
    is_known = true;
    if (!status.ok() && first_failure.ok()) Blame(one, moved);
    if (status.ok()) Add(one, moved);
    first_failure.Update(status);
  }
  return is_known ? first_failure : absl::NotFoundError("the owner is not asleep");
}

std::vector<Sleep::Owner> MovableMemory::owners() {
  absl::btree_map<MovableOwner, Sleep::Owner> sums;
  for (Sleep* card : Sleeps()) {
    for (const Sleep::Owner& one : card->owners()) {
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
  for (Sleep* card : Sleeps()) {
    if (!status.ok()) status = card->Read({address, address + bytes}, host);
  }
  return status;
}

MovableOwner MovableMemory::OwnerAsleepAt(DeviceAddress address) {
  for (Sleep* card : Sleeps()) {
    if (const MovableOwner owner = card->OwnerAsleepAt(address); owner != MovableOwner{})
      return owner;
  }
  return {};
}

Bytes MovableMemory::pooled() {
  Bytes sum = 0;
  for (Sleep* card : Sleeps()) sum += card->pooled();
  return sum;
}

Bytes MovableMemory::ReleaseHostMemory() {
  Bytes sum = 0;
  for (Sleep* card : Sleeps()) sum += card->ReleaseHostMemory();
  return sum;
}

std::vector<Sleep*> MovableMemory::Sleeps() const {
  std::vector<Sleep*> sleeps;
  for (int device = 0; device < cards_.device_count(); ++device) {
    if (CachingAllocator* allocator = cards_.allocator(device))
      sleeps.push_back(&allocator->movement().sleep());
  }
  return sleeps;
}

}  // namespace memtrace
