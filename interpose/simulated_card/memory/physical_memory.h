// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_

#include <atomic>
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

// The memory behind a mapping; fixed as long as the allocation is alive.
struct Backing {
  Extent contents;
  int device = 0;
  ChargeKind kind = ChargeKind::kVmm;
};

// One allocation of physical memory (a CUmemGenericAllocationHandle, or the memory behind a
// cudaMalloc).
struct PhysicalAllocation {
  Backing backing;
  std::uint32_t references = 1;  // cuMemCreate and cuMemRetainAllocationHandle
  std::uint32_t mappings = 0;
  bool exportable = false;    // as requested at its creation
  bool imported = false;      // from another process, which is charged for it
  SharedMemoryRecord record;  // once exported or imported
  int lent = -1;              // once exported: the descriptor from CardSharing::Lend
  OpenFilePointer received;   // the descriptor by which it was imported
};

// The host's memory that cards use at addresses of their own (cuMemCreate with a host location).
struct HostLocated {
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;
  std::uint64_t limit = ~0ull;  // 0: the driver does not support such memory
};

// The physical memory of all cards. An allocation goes back to its card when no reference and no
// mapping is left, as cuda.h says of cuMemRelease; its contents live as long as it does. Memory
// that was exported by a descriptor goes back only when that is also closed everywhere.
//
// kInvalidValue for a handle that was released or never existed. Safe from any thread.
class PhysicalMemory {
 public:
  // Both arguments must outlive this.
  PhysicalMemory(Cards& cards, BackingFile& file) : cards_(cards), file_(file) {}
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  // On kInvalidDevice, kInvalidValue (unless `bytes` are whole granules) and kOutOfMemory nothing
  // changes. Memory of the host (kHost) is charged to no card; `device` is the one that uses it.
  Result Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                bool exportable = false);
  Result Release(HandleId handle);
  // Adds a reference. Mapped memory can be retained after its references are gone.
  Result Retain(HandleId handle);

  // Gives the card that holds a referenced handle, and whose memory it is.
  Result DeviceOf(HandleId handle, int* device, ChargeKind* kind) const;
  // Returns the place of a referenced handle's contents; no bytes for any other handle.
  Extent ContentsOf(HandleId handle) const;

  // Describes the memory for another process. kMapFailed if the host cannot hold contents.
  // REQUIRES: the allocation is alive and not imported.
  Result Describe(HandleId handle, SharedMemoryRecord* record);
  // Makes a new descriptor for it. kInvalidValue for memory that was not created as exportable.
  Result Export(HandleId handle, int* descriptor);
  // Imports memory of another process, on a card of this one; it is not charged here. kInvalidValue
  // for a descriptor of something else, kNotSupported for memory of a card that this process does
  // not have, kMapFailed if the other process cannot be reached. In the exporting process it adds a
  // reference.
  Result Import(int descriptor, HandleId* handle);
  // Does the same for memory that another process made with cudaMalloc.
  Result Attach(const SharedMemoryRecord& record, int device, HandleId* handle);

  // Bounds the host's memory; called before any is made.
  void SetHostLimit(std::uint64_t bytes);
  HostLocated host_located() const;
  // True if there is any memory of the host. One load.
  bool HasHostLocated() const { return has_host_.load(std::memory_order_relaxed); }

  // Returns how many allocations are alive.
  std::size_t Count() const;

  // Add or remove a mapping of a referenced handle.
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
  void GiveBack(const PhysicalAllocation& allocation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool ChargeHost(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Cards& cards_;
  BackingFile& file_;
  mutable Mutex mutex_;
  std::map<HandleId, PhysicalAllocation> allocations_ ABSL_GUARDED_BY(mutex_);
  HandleId next_ ABSL_GUARDED_BY(mutex_) = 1;
  HostLocated host_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_host_ = false;  // set under the lock
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_PHYSICAL_MEMORY_H_
