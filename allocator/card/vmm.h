// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_VMM_H_
#define MEMTRACE_ALLOCATOR_CARD_VMM_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/unique_descriptor.h"
#include "base/units.h"

namespace memtrace {

// One chunk of a card's physical memory, by cuMemCreate's handle. It belongs to nobody until it is
// mapped.
enum class ChunkHandle : uint64_t {};

// A mapped chunk. No two mappings of a process have the same serial number.
struct MappedChunk {
  DeviceAddress address;
  Bytes size = 0;
  uint64_t serial = 0;
  bool is_on_host = false;
};

struct DeviceMemory {
  Bytes free = 0;
  Bytes total = 0;
};

// Virtual memory management of one card, as the driver offers it: address space is reserved,
// physical chunks are created, and chunks are mapped into reservations. The allocator uses the
// driver only through this interface; `CudaVmm` is the driver, `MemoryVmm` a stand-in that only
// does the bookkeeping.
//
// Rules, the driver's own (cuda.h, "Virtual Memory Management"): sizes and addresses are multiples
// of granularity(); a chunk is mapped whole; a mapped range is not mapped again; unmapping does NOT
// wait for pending work on the card; physical memory returns to the card when a chunk is released
// and unmapped.
//
// Errors: kResourceExhausted if the card is full; kInvalidArgument for a broken rule; otherwise
// kInternal with the driver's own words. A failed call has changed nothing. Thread rule: the caller
// serialises all calls for one card.
class Vmm {
 public:
  virtual ~Vmm() = default;

  virtual Bytes granularity() const = 0;

  virtual absl::StatusOr<DeviceAddress> Reserve(Bytes size) = 0;
  virtual absl::Status ReleaseReservation(DeviceAddress address, Bytes size) = 0;

  virtual absl::StatusOr<ChunkHandle> Create(Bytes size) = 0;
  // Makes a chunk of the host's memory, which the card reads and writes over the bus. It cannot be
  // shared. kUnimplemented if the driver cannot do this, kResourceExhausted if the host is full.
  virtual absl::StatusOr<ChunkHandle> CreateOnHost(Bytes /*size*/) {
    return absl::UnimplementedError("no memory of the host at a card's addresses");
  }
  // Returns a further handle of the chunk that is mapped at `address`, which keeps its memory until
  // it is released, and with which it can be mapped at further addresses. kUnimplemented if the
  // memory is not the card's.
  virtual absl::StatusOr<ChunkHandle> Retain(DeviceAddress /*address*/) {
    return absl::UnimplementedError("the memory is not the card's");
  }
  virtual absl::Status Release(ChunkHandle chunk) = 0;

  // Maps the whole chunk (`size` is its size). It cannot be read or written before GiveAccess.
  virtual absl::Status Map(DeviceAddress address, Bytes size, ChunkHandle chunk) = 0;
  // Makes whole, adjacent mapped chunks readable and writable by their card and by admitted peers.
  virtual absl::Status GiveAccess(DeviceAddress address, Bytes size) = 0;
  virtual absl::Status Unmap(DeviceAddress address, Bytes size) = 0;

  virtual absl::StatusOr<DeviceMemory> MemoryInfo() = 0;

  // Returns a new file descriptor with which another process can map the chunk at `address`. It
  // keeps the chunk's memory alive until it is closed. kUnimplemented if chunks cannot be shared.
  virtual absl::StatusOr<UniqueDescriptor> Share(DeviceAddress address) = 0;

  // Lets `peer`, another card, also read and write all mapped memory: `mapped`, which lists all
  // current mappings, and all later ones.
  virtual absl::Status Admit(DeviceIndex peer, const std::vector<MappedChunk>& mapped) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_VMM_H_
