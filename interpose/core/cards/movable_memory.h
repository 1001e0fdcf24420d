// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_MEMORY_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_MEMORY_H_

#include <chrono>
#include <map>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/heap/sleep.h"
#include "base/units.h"
#include "interpose/core/cards/process_cards.h"

namespace memtrace {

// Sleep and wake of an owner on all cards of the process. If a card refuses a sleep, those before
// it wake again; if one refuses a wake, the others fall asleep again.
//
// Errors: as Sleep; kNotFound if no card has memory of the owner. Thread rule: any thread.
class MovableMemory {
 public:
  // `cards` must outlive this.
  explicit MovableMemory(const ProcessCards& cards ABSL_ATTRIBUTE_LIFETIME_BOUND) : cards_(cards) {}

  // The bytes that moved on one card.
  struct CardMove {
    int device = 0;
    Sleep::Moved moved;
    std::chrono::nanoseconds duration{};
  };
  // Returns what the last call has moved; nothing after one that was refused.
  const std::vector<CardMove>& moves() const { return moves_; }

  absl::Status PutToSleep(MovableOwner owner, Sleep::Keep keep, Sleep::Moved& moved);
  absl::Status Wake(MovableOwner owner, Sleep::Moved& moved);

  // Returns the owners, each once, with the sums over the cards.
  std::vector<Sleep::Owner> owners();

  // Copies what `bytes` bytes from `address` will contain after the wake. kNotFound if they do not
  // sleep with a copy.
  absl::Status Read(DeviceAddress address, Bytes bytes, void* host);
  // Returns the owner whose sleeping memory contains the address; 0 if there is none.
  MovableOwner OwnerAsleepAt(DeviceAddress address);

  Bytes pooled();
  Bytes ReleaseHostMemory();

 private:
  struct Card {
    int device = 0;
    Sleep* sleep = nullptr;
  };
  std::vector<Card> Cards() const;
  static Sleep::Keep KeepOf(const Card& card, MovableOwner owner);
  void UndoWake(MovableOwner owner, const std::map<int, Sleep::Keep>& kept);
  // Wakes the owner on the cards on which the call has put it to sleep.
  void Undo(MovableOwner owner);

  const ProcessCards& cards_;
  std::vector<CardMove> moves_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_MEMORY_H_
