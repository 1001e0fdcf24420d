// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_CARD_NAME_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_CARD_NAME_H_

#include <optional>
#include <string>
#include <vector>

#include "allocator/cuda/open_card.h"
#include "base/units.h"

namespace memtrace {

// A card, and the names under which processes of this user that have memory of it listen:
// "memtrace-room.UID.CARD.PID.RANDOM". Processes of containers with networks of their own do not
// see each other.
struct CardName {
  CardUuid uuid{};
  std::string prefix;  // without PID and RANDOM

  // Returns a new name for this process.
  std::string NameOfProcess() const;
  // Returns the names under which processes listen now, this one's included.
  std::vector<std::string> Listeners() const;
};

// Returns nothing if no other process can have memory of the card: a simulated card that belongs to
// this process alone. On simulated cards, the launch that shares them is a part of the name.
std::optional<CardName> NameOf(DeviceIndex device, bool is_simulated);

// Returns the names of /proc/net/unix (its text) that begin with `prefix`.
std::vector<std::string> NamesIn(const std::string& text, const std::string& prefix);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_CARD_NAME_H_
