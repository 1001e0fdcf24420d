// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_RANGES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/units.h"

namespace memtrace::card {

// An address in the single address space of all cards.
using Address = DeviceAddress;

// Hands out device addresses for cuMemAddressReserve: ascending, and a returned range only after
// the end was reached once. HeapAddresses chooses cudaMalloc's addresses.
//
// The addresses are numbers: nothing is mapped in the host, so RLIMIT_AS does not bound a card and
// a host read through a device pointer faults as it does with a GPU. The range lies where neither
// the kernel (which goes down from 2^47) nor the sanitizers of gcc and clang place anything.
//
// Not safe from several threads: its owner locks.
class AddressRanges {
 public:
  static constexpr Address kBegin{0x2000'0000'0000};  // 32 TiB
  static constexpr Address kHeap{0x3800'0000'0000};   // above: HeapAddresses
  static constexpr Address kEnd{0x5000'0000'0000};    // 80 TiB

  static bool Contains(Address address) { return address >= kBegin && address < kEnd; }

  // Returns null if there is no room. REQUIRES: bytes > 0, alignment a power of two.
  Address Take(std::uint64_t bytes, std::uint64_t alignment);
  // Takes exactly [address, address + bytes) if it is unused and below the heap.
  bool TakeAt(Address address, std::uint64_t bytes);
  // Marks a range that HeapAddresses chose as taken.
  void AddHeap(Address begin, std::uint64_t bytes) { taken_.emplace(begin, bytes); }
  // REQUIRES: begin was taken and not given back.
  void GiveBack(Address begin);

  // Find returns the taken range that holds address: {begin, bytes}; bytes is 0 if there is none.
  struct Range {
    Address begin;
    std::uint64_t bytes = 0;
  };
  Range Find(Address address) const;
  std::size_t Count() const { return taken_.size(); }

 private:
  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as Take has them.
  Address FirstFit(Address from, std::uint64_t bytes, std::uint64_t alignment) const;

  std::map<Address, std::uint64_t> taken_;  // begin -> bytes
  Address next_ = kBegin;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_ADDRESS_RANGES_H_
