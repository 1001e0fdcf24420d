// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/units.h"
#include "interpose/simulated_card/memory/address_ranges.h"
#include "interpose/simulated_card/memory/hollow_ranges.h"
#include "interpose/simulated_card/memory/physical_memory.h"
#include "interpose/simulated_card/spec/heap_addresses.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// Blocks that share a granule are cut at multiples of this; assumed.
inline constexpr std::uint64_t kCut = 512;

enum class Access { kNone, kRead, kReadWrite };

// The facts about a mapped device address.
struct MappedRange {
  Address begin;
  std::uint64_t bytes = 0;
  HandleId handle = 0;
  int device = 0;
  ChargeKind kind = ChargeKind::kVmm;
};

// Counts of what was made and not given back, without the runtime's heap.
struct LiveMemory {
  std::uint64_t handles = 0;
  std::uint64_t mappings = 0;
  std::uint64_t reservations = 0;
};

// The single virtual address space of all cards, with the rules of cuda.h's virtual memory
// management: the reservations, and the places where PhysicalMemory is mapped.
//
//   Reserve -> address range        PhysicalMemory::Create -> physical handle (charged)
//   Map (whole handle, into one reservation, never over a mapping) -> SetAccess -> usable
//   Unmap (whole mappings, no gap)  PhysicalMemory::Release (memory returns when no reference and
//                                   no mapping is left)
//
// Each call either does all of its work or changes nothing. Safe from any thread; lock order:
// machine.h.
class AddressSpace {
 public:
  // Both arguments must outlive this.
  AddressSpace(const Cards& cards, PhysicalMemory& physical);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // hint 0: anywhere; a hint that is taken or unaligned is ignored, as the header allows.
  Result Reserve(std::uint64_t bytes, std::uint64_t alignment, Address hint, Address* begin);
  // Reserves for cudaMalloc on that card, where the card's driver would
  // (CardSpec::addresses_ascend). REQUIRES: whole granules.
  Result ReserveForHeap(int device, std::uint64_t bytes, Address* begin);
  // Gives a whole reservation back. kInvalidValue if [begin, begin + bytes) is not a reservation or
  // has a mapping.
  Result FreeReservation(Address begin, std::uint64_t bytes);

  // The memory that is mapped here; it owns the handles.
  PhysicalMemory& physical() { return physical_; }
  // Adds a reference to the allocation mapped at address.
  Result RetainAt(Address address, HandleId* handle);
  // Describes the memory mapped at address for another process, with the address's offset in it.
  Result DescribeAt(Address address, SharedMemoryRecord* record);

  // Maps a whole allocation. kInvalidValue if begin is not a multiple of kGranularity, the range is
  // not within one reservation or touches a mapping, or the handle is not referenced; kNotSupported
  // for an offset or a part of the allocation.
  Result Map(Address begin, std::uint64_t bytes, std::uint64_t offset, HandleId handle);
  // The next two: kInvalidValue unless the range is whole mappings without a gap.
  Result Unmap(Address begin, std::uint64_t bytes);
  Result SetAccess(Address begin, std::uint64_t bytes, int device, Access access);
  // kInvalidValue if nothing is mapped there. This and SetAccess: kInvalidDevice for a card that
  // does not exist.
  Result GetAccess(Address address, int device, Access* access) const;

  std::optional<MappedRange> Find(Address address) const;
  // Returns the mappings that overlap [begin, begin + bytes), in order of address.
  std::vector<MappedRange> MappingsIn(Address begin, std::uint64_t bytes) const;
  // The reserved addresses whose memory a program has unmapped. Those of cudaMalloc, pools and
  // graphs are not among them.
  const HollowRanges& hollows() const { return hollows_; }

  LiveMemory Live() const;

  // Finds the contents of [begin, begin + bytes), in order of address. kInvalidValue if the range
  // starts outside every reservation, or if a part is not mapped or no card has at least that
  // access to it. Adds to `on_host`, unless it is null, how many of the bytes the host's memory
  // holds.
  Result Translate(Address begin, std::uint64_t bytes, Access least, std::vector<Extent>* extents,
                   std::uint64_t* on_host = nullptr) const;

 private:
  struct Mapping {
    HandleId handle = 0;
    Backing backing;                // its bytes are the whole handle's, which are the mapping's
    std::uint32_t readable_by = 0;  // bit d: card d
    std::uint32_t writable_by = 0;

    std::uint64_t bytes() const { return backing.contents.bytes; }
    void SetAccess(int device, Access access);
    Access AccessOf(int device) const;
    // True if some card has at least this access.
    bool Allows(Access least) const;
  };
  using Mappings = std::map<Address, Mapping>;

  bool HasCard(int device) const;
  Mappings::const_iterator MappingAt(Address address) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool CoversWholeMappings(Address begin, std::uint64_t bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static MappedRange Describe(Mappings::const_iterator mapping);
  bool AnyMappingIn(Address begin, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Cards& cards_;
  PhysicalMemory& physical_;
  mutable Mutex mutex_;
  AddressRanges reservations_ ABSL_GUARDED_BY(mutex_);
  // One for each card, with equal parts of the addresses.
  std::vector<HeapAddresses> heaps_ ABSL_GUARDED_BY(mutex_);
  Mappings mappings_ ABSL_GUARDED_BY(mutex_);
  HollowRanges hollows_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_
