// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_CARD_ROOM_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_CARD_ROOM_H_

#include <algorithm>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/card/vmm.h"
#include "base/units.h"

namespace memtrace {

// Returns a - b; 0 if b is larger.
constexpr Bytes Minus(Bytes a, Bytes b) { return a > b ? a - b : 0; }

// How much of a card may still be mapped: the limit that was set, and the free memory that the
// driver last reported. Only QueryDriver() asks the driver.
//
// Thread rule: guarded by the card's lock.
class CardRoom {
 public:
  CardRoom(Bytes limit, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
           const MappingAccount& mapping ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : limit_(limit), vmm_(vmm), mapping_(mapping) {}

  // Sets the most bytes that may be mapped; all ones means no limit.
  void SetLimit(Bytes limit) { limit_ = limit; }
  Bytes limit() const { return limit_; }

  // Returns the bytes that the limit leaves.
  Bytes RemainingUnderLimit() const { return Minus(limit_, mapping_.reserved()); }

  // Asks the driver for the free memory.
  absl::StatusOr<DeviceMemory> QueryDriver() {
    const absl::StatusOr<DeviceMemory> card = vmm_.MemoryInfo();
    if (card.ok()) usable_ = card->free + mapping_.reserved();
    return card;
  }

  // Returns the bytes that could still be mapped, as far as is known without asking the driver.
  Bytes Remaining() const {
    return std::min(Minus(usable_, mapping_.reserved()), RemainingUnderLimit());
  }

  // Notes that this heap has unmapped memory for somebody else, who will take it.
  void GaveAway(Bytes bytes) { usable_ = Minus(usable_, bytes); }

  // Returns the free memory plus the memory mapped by this heap, when the driver was last asked.
  Bytes usable() const { return usable_; }

 private:
  Bytes limit_;
  Bytes usable_ = 0;
  Vmm& vmm_;
  const MappingAccount& mapping_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_CARD_ROOM_H_
