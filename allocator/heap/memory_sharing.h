// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_MEMORY_SHARING_H_
#define MEMTRACE_ALLOCATOR_HEAP_MEMORY_SHARING_H_

#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/vmm.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/heap/parts/views.h"
#include "base/units.h"

namespace memtrace {

// Shares a card's memory: with other processes the chunks under a block, with other cards all of
// it.
//
// Thread rule: any thread; it takes the card's lock.
class MemorySharing {
 public:
  // All references must outlive this.
  MemorySharing(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
                DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND,
                Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : lock_(lock), heap_(heap), vmm_(vmm) {}

  // Returns the range of the block in use that contains `address`, if there is one.
  std::optional<AddressRange> BaseAllocation(DeviceAddress address) const;

  // Returns the chunks under the block in use that contains `address`, in ascending order.
  // kNotFound.
  absl::StatusOr<std::vector<MappedChunk>> ChunksUnder(DeviceAddress address) const;

  // Does the same, and adds a descriptor to each chunk with which another process can map it.
  // kUnimplemented if the memory comes from a pool's own source.
  absl::StatusOr<std::vector<SharedChunk>> Share(DeviceAddress address);

  // Lets another card read and write all of this card's memory from now on (peer access).
  absl::Status Admit(DeviceIndex peer);

 private:
  void NoteShared(DeviceAddress address) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);

  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  Vmm& vmm_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_MEMORY_SHARING_H_
