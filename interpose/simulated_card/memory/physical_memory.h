// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/backing_file.h"
#include "interpose/simulated_card/memory/card.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

using Cards = std::vector<std::unique_ptr<Card>>;
using HandleId = std::uint64_t;

// Size and alignment of everything in cuMem*: 2 MiB on every card so far.
inline constexpr std::uint64_t kGranularity = 2ull << 20;

inline bool IsWholeGranules(std::uint64_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

// What is behind a mapping; fixed for as long as the allocation is alive.
struct Backing {
  Extent contents;
  int device = 0;
  ChargeKind kind = ChargeKind::kVmm;
};

// One allocation of physical memory (a CUmemGenericAllocationHandle, or what is behind a
// cudaMalloc).
struct PhysicalAllocation {
  Backing backing;
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
// A handle that was released or never existed is answered with kInvalidValue. Safe from any thread.
class PhysicalMemory {
 public:
  // Both must outlive this.
  PhysicalMemory(Cards& cards, BackingFile& file) : cards_(cards), file_(file) {}
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  // kInvalidDevice, kInvalidValue unless `bytes` are whole granules, and kOutOfMemory leave
  // everything as it was.
  Result Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                bool exportable = false);
  Result Release(HandleId handle);
  // A further reference. Mapped memory can be retained after its references are gone.
  Result Retain(HandleId handle);

  // The card that holds a referenced handle.
  Result DeviceOf(HandleId handle, int* device) const;
  // Where the contents of a referenced handle are; of any other no bytes.
  Extent ContentsOf(HandleId handle) const;

  // Where another process finds it. kMapFailed if the host cannot hold contents. REQUIRES: the
  // allocation is alive and not imported.
  Result Describe(HandleId handle, SharedMemoryRecord* record);
  // A new descriptor that stands for it. kInvalidValue for memory that was not made for that.
  Result Export(HandleId handle, int* descriptor);
  // Memory of another process, on a card of this one; it is charged nowhere. kInvalidValue for a
  // descriptor of something else, kNotSupported for memory of a card that this process does not
  // have, kMapFailed if the other process cannot be reached. In the exporting process: a further
  // reference.
  Result Import(int descriptor, HandleId* handle);
  // The same for memory that another process made with cudaMalloc.
  Result Attach(const SharedMemoryRecord& record, int device, HandleId* handle);

  // Returns how many allocations are alive.
  std::size_t Count() const;

  // A referenced handle is mapped once more, and once less.
  Result AddMapping(HandleId handle, Backing* backing);
  void RemoveMapping(HandleId handle);

 private:
  int DeviceOfCard(std::uint32_t card) const;
  const PhysicalAllocation* FindReferenced(HandleId handle) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result DescribeLocked(const PhysicalAllocation& allocation, SharedMemoryRecord* record);
  HandleId RetainOwn(const SharedMemoryRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result ImportLocked(const SharedMemoryRecord& record, int device, ChargeKind kind,
                      OpenFilePointer received, HandleId* handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropIfUnused(HandleId handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveBack(const PhysicalAllocation& allocation);

  Cards& cards_;
  BackingFile& file_;
  mutable Mutex mutex_;
  std::map<HandleId, PhysicalAllocation> allocations_ ABSL_GUARDED_BY(mutex_);
  HandleId next_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
