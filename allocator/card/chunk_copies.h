// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_CHUNK_COPIES_H_
#define MEMTRACE_ALLOCATOR_CARD_CHUNK_COPIES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

// A piece of the host's memory.
struct HostPiece {
  uint64_t address = 0;
  Bytes size = 0;
  bool is_pinned = true;
};

// Copies between a card and the host, on a stream of its own, and the host's memory for them. The
// copies are queued and take place in order; after Wait they are done. The host's memory must not
// be given back before.
//
// Errors: kResourceExhausted if the host has no memory; otherwise kInternal with the driver's own
// words. Thread rule: as Vmm.
class ChunkCopies {
 public:
  virtual ~ChunkCopies() = default;

  // Returns pinned memory, or pageable memory if the host refuses to pin it.
  virtual absl::StatusOr<HostPiece> TakeHostMemory(Bytes size) = 0;
  virtual void GiveHostMemoryBack(const HostPiece& piece) = 0;

  virtual absl::Status ToHost(DeviceAddress from, uint64_t host, Bytes size) = 0;
  virtual absl::Status ToCard(uint64_t host, DeviceAddress to, Bytes size) = 0;
  // Copies between two ranges at the card's addresses, of its own or of the host's memory.
  virtual absl::Status Within(DeviceAddress from, DeviceAddress to, Bytes size) = 0;
  // Fills memory of the card with zeros.
  virtual absl::Status Clear(DeviceAddress address, Bytes size) = 0;
  virtual absl::Status Wait() = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_CHUNK_COPIES_H_
