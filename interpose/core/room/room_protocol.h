// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_PROTOCOL_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_PROTOCOL_H_

#include <array>
#include <cstdint>

#include "allocator/cuda/open_card.h"

// The messages by which processes ask each other for memory of a card: one each way for a
// connection, of fixed size, little-endian. Another size or magic ends the connection.
namespace memtrace {

inline constexpr uint32_t kRoomMagic = 0x3152544d;  // "MTR1"

struct RoomRequest {
  uint32_t magic = kRoomMagic;
  uint32_t size = sizeof(RoomRequest);
  CardUuid card{};
  uint64_t bytes = 0;  // 0: only an offer is wanted
  uint32_t limit_ms = 0;
  uint32_t reserved = 0;

  bool is_valid() const { return magic == kRoomMagic && size == sizeof(RoomRequest); }
};
static_assert(sizeof(RoomRequest) == 40);

struct RoomAnswer {
  uint32_t magic = kRoomMagic;
  uint32_t size = sizeof(RoomAnswer);
  uint64_t returned = 0;
  uint64_t pending = 0;  // will be returned when the work that uses it is done
  uint64_t cached = 0;   // could be returned
  uint64_t reserved = 0;

  bool is_valid() const { return magic == kRoomMagic && size == sizeof(RoomAnswer); }
};
static_assert(sizeof(RoomAnswer) == 40);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_PROTOCOL_H_
