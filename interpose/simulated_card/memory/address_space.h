// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/units.h"
#include "interpose/simulated_card/memory/address_ranges.h"
#include "interpose/simulated_card/spec/heap_addresses.h"
#include "interpose/simulated_card/memory/physical_memory.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// Size and alignment of everything in cuMem*: 2 MiB on every card so far.
inline constexpr std::uint64_t kGranularity = 2ull << 20;
// What shares a granule is cut at multiples of this; assumed.
inline constexpr std::uint64_t kCut = 512;

enum class Access { kNone, kRead, kReadWrite };

// A piece of the backing file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// What is known of a mapped device address.
struct MappedRange {
  Address begin = 0;
  std::uint64_t bytes = 0;
  HandleId handle = 0;
  int device = 0;
  ChargeKind kind = ChargeKind::kVmm;
};

// What was made and not given back, without what the runtime's heap made.
struct LiveMemory {
  std::uint64_t handles = 0;
  std::uint64_t mappings = 0;
  std::uint64_t reservations = 0;
};

// The one virtual address space of all cards, with the rules of cuda.h's virtual memory management.
//
//   Reserve -> address range        Create -> physical handle (charged)
//   Map (whole handle, into one reservation, never over a mapping) -> SetAccess -> usable
//   Unmap (whole mappings, no gap)  Release (memory returns when no reference and no mapping is
//   left)
//
// Each call either does all of its work or changes nothing. Safe from any thread.
class AddressSpace {
 public:
  // Both must outlive this.
  AddressSpace(Cards& cards, BackingFile& file);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // hint 0: anywhere; a hint that is taken or unaligned is ignored, as the header allows.
  Result Reserve(std::uint64_t bytes, std::uint64_t alignment, Address hint, Address* begin);
  // For cudaMalloc on that card: where the card's driver puts it (CardSpec::addresses_ascend).
  // REQUIRES: whole granules.
  Result ReserveForHeap(int device, std::uint64_t bytes, Address* begin);
  // The whole reservation, with nothing mapped in it.
  Result FreeReservation(Address begin, std::uint64_t bytes);

  Result Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                bool exportable = false);
  Result Release(HandleId handle);
  // A further reference to what is mapped at address.
  Result RetainAt(Address address, HandleId* handle);
  // The card that holds a referenced handle; kInvalidValue if there is none.
  Result DeviceOf(HandleId handle, int* device) const;

  // Where the contents of a referenced handle are; of any other no bytes.
  Extent ContentsOf(HandleId handle) const;

  // Between processes: PhysicalMemory. Where what is mapped at address is found by another one, and
  // where in it address lies.
  Result DescribeAt(Address address, SharedMemoryRecord* record);
  Result Export(HandleId handle, int* descriptor);
  // kInvalidValue for a descriptor of something else, kNotSupported for memory of a card that this
  // process does not have. In the exporting process: a further reference.
  Result Import(int descriptor, HandleId* handle);
  // Memory that another process made with cudaMalloc.
  Result Attach(const SharedMemoryRecord& record, int device, HandleId* handle);

  Result Map(Address begin, std::uint64_t bytes, std::uint64_t offset, HandleId handle);
  Result Unmap(Address begin, std::uint64_t bytes);
  Result SetAccess(Address begin, std::uint64_t bytes, int device, Access access);
  Result GetAccess(Address address, int device, Access* access) const;

  std::optional<MappedRange> Find(Address address) const;
  // The mappings that have a part in [begin, begin + bytes), in order of address.
  std::vector<MappedRange> MappingsIn(Address begin, std::uint64_t bytes) const;

  LiveMemory Live() const;

  // Where the contents of [begin, begin + bytes) are, in order of address. kInvalidValue if the
  // range starts outside every reservation, or a part is not mapped or no card has at least that
  // access to it.
  Result Translate(Address begin, std::uint64_t bytes, Access least,
                   std::vector<Extent>* extents) const;

 private:
  struct Mapping {
    std::uint64_t bytes = 0;
    HandleId handle = 0;
    std::uint32_t readable_by = 0;  // bit d: card d
    std::uint32_t writable_by = 0;
  };
  using Mappings = std::map<Address, Mapping>;

  int DeviceOfCard(std::uint32_t card) const;
  Mappings::const_iterator MappingAt(Address address) const;
  bool CoversWholeMappings(Address begin, std::uint64_t bytes) const;
  MappedRange Describe(Mappings::const_iterator mapping) const;
  bool AnyMappingIn(Address begin, std::uint64_t bytes) const;

  Cards& cards_;
  mutable Mutex mutex_;
  PhysicalMemory physical_;  // this and below: guarded by mutex_
  AddressRanges reservations_;
  std::vector<HeapAddresses> heaps_;  // one a card, of equal parts of the addresses
  Mappings mappings_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_SPACE_H_
