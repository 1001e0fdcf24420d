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

// Physical memory of a card: one chunk, owned by nobody until it is mapped (cuMemCreate's handle).
enum class ChunkHandle : uint64_t {};

// One chunk, where it is mapped. No two mappings of a process have the same serial number.
struct MappedChunk {
  DeviceAddress address;
  Bytes size = 0;
  uint64_t serial = 0;
};

struct DeviceMemory {
  Bytes free = 0;
  Bytes total = 0;
};

// Virtual memory management of one card, as the driver offers it: address space is reserved,
// physical chunks are created, and chunks are mapped into reservations. The allocator sees the
// driver only through this interface; `CudaVmm` is the driver, `MemoryVmm` a bookkeeping-only
// stand-in.
//
// Rules, the driver's own (cuda.h, "Virtual Memory Management"): sizes and addresses are multiples
// of granularity(); a chunk is mapped whole; a mapped range is not mapped again; unmapping does NOT
// wait for pending work on the card; physical memory returns to the card when a chunk is released
// and unmapped.
//
// Errors: kResourceExhausted when the card is full; kInvalidArgument for a broken rule; kInternal
// otherwise, with the driver's own words. A failed call has changed nothing. Thread rule: calls for
// one card are serialised by the caller.
class Vmm {
 public:
  virtual ~Vmm() = default;

  virtual Bytes granularity() const = 0;

  virtual absl::StatusOr<DeviceAddress> Reserve(Bytes size) = 0;
  virtual absl::Status ReleaseReservation(DeviceAddress address, Bytes size) = 0;

  virtual absl::StatusOr<ChunkHandle> Create(Bytes size) = 0;
  virtual absl::Status Release(ChunkHandle chunk) = 0;

  // Maps the whole chunk (`size` is its size). Nobody can read or write it yet.
  virtual absl::Status Map(DeviceAddress address, Bytes size, ChunkHandle chunk) = 0;
  // Makes whole mapped chunks that lie side by side readable and writable by their card and
  // admitted peers.
  virtual absl::Status GiveAccess(DeviceAddress address, Bytes size) = 0;
  virtual absl::Status Unmap(DeviceAddress address, Bytes size) = 0;

  virtual absl::StatusOr<DeviceMemory> MemoryInfo() = 0;

  // A new file descriptor by which another process can map the chunk that is mapped at `address`.
  // It holds the chunk's memory until it is closed. kUnimplemented where chunks cannot be shared.
  virtual absl::StatusOr<UniqueDescriptor> Share(DeviceAddress address) = 0;

  // From now on `peer`, another card, may read and write what is mapped, too: later mappings, and
  // `mapped`, which is all there is.
  virtual absl::Status Admit(DeviceIndex peer, const std::vector<MappedChunk>& mapped) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_VMM_H_
