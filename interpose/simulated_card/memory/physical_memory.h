// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "interpose/simulated_card/memory/backing_file.h"
#include "interpose/simulated_card/memory/card.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

using Cards = std::vector<std::unique_ptr<Card>>;
using HandleId = std::uint64_t;

// One allocation of physical memory (a CUmemGenericAllocationHandle, or what is behind a
// cudaMalloc).
struct PhysicalAllocation {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // into the backing file
  int device = 0;
  ChargeKind kind = ChargeKind::kVmm;
  std::uint32_t references = 1;  // cuMemCreate and cuMemRetainAllocationHandle
  std::uint32_t mappings = 0;
  bool exportable = false;    // as asked for when it was created
  bool imported = false;      // another process's, which is charged for it
  SharedMemoryRecord record;  // once exported or imported
  int lent = -1;              // the descriptor that CardSharing::Lend gave, once exported
  OpenFilePointer received;   // the descriptor that it was imported by
};

// The physical memory of all cards. An allocation goes back to its card when no reference and no
// mapping is left, as cuda.h says of cuMemRelease; its contents live as long as it does. What was
// exported by a descriptor goes back when that is closed everywhere, too.
//
// Not safe from several threads: AddressSpace locks.
class PhysicalMemory {
 public:
  // Both must outlive this.
  PhysicalMemory(Cards& cards, BackingFile& file) : cards_(cards), file_(file) {}

  // kOutOfMemory leaves everything as it was. REQUIRES: device exists.
  Result Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                bool exportable = false);

  // Where another process finds it. kMapFailed if the host cannot hold contents. REQUIRES: the
  // allocation is alive and not imported.
  Result Describe(HandleId handle, SharedMemoryRecord* record);
  // A new descriptor that stands for it. kInvalidValue for memory that was not made for that.
  Result Export(HandleId handle, int* descriptor);
  // Memory of another process, on a card of this one; it is charged nowhere. `received` may be
  // null. kMapFailed if that process cannot be reached.
  Result Import(const SharedMemoryRecord& record, int device, ChargeKind kind,
                OpenFilePointer received, HandleId* handle);
  // This process's own memory that the record stands for, with a further reference; 0: none.
  HandleId RetainOwn(const SharedMemoryRecord& record);

  // kInvalidValue for a handle that was released or never existed.
  Result Release(HandleId handle);
  Result Retain(HandleId handle);

  // Null once all references are gone, even while mappings keep the memory.
  const PhysicalAllocation* FindReferenced(HandleId handle) const;
  // REQUIRES: the allocation is alive.
  const PhysicalAllocation& Alive(HandleId handle) const { return allocations_.at(handle); }

  std::size_t Count() const { return allocations_.size(); }

  void AddMapping(HandleId handle) { ++allocations_.at(handle).mappings; }
  void RemoveMapping(HandleId handle);

 private:
  void DropIfUnused(HandleId handle);
  void GiveBack(const PhysicalAllocation& allocation);

  Cards& cards_;
  BackingFile& file_;
  std::map<HandleId, PhysicalAllocation> allocations_;
  HandleId next_ = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
