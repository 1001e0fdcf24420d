// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_HEAP_ADDRESSES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_HEAP_ADDRESSES_H_

#include <cstdint>
#include <map>

#include "base/units.h"

namespace memtrace::card {

// Chooses the addresses of cudaMalloc as a Linux driver does. Torch's best fit breaks ties by
// address, so the order of addresses decides which segment a block comes from.
//
// The driver takes areas of whole 32 MiB from the top of a large range downwards and cuts
// allocations from them:
//
//   area N+1            area N              area 1           the context's own
//   [20 MiB |  free ] [ 100 MiB  | free ] [ 20 | 2 | free ]  [ ... 2 MiB free ... 24 MiB free ]
//   <- lower addresses                                                      higher addresses ->
//
// An allocation goes to the lowest area with a hole for it, there to the smallest such hole, at its
// lower end. If no area has one, a new area is made at the upper end of the highest gap that is
// larger than the area (one of exactly its size stays unused). An area whose last allocation was
// freed is a gap again.
//
// Measured on an H200 with driver 580.159 (tests/gpu/recordings/h200/address_walk.json: all 17
// walks match); a public snapshot of another machine with other sizes has the same order
// (docs/design/simulated-card.md). Drivers for Windows go upwards. A replay of a trace on another
// card also places torch's segments by it.
//
// Not safe from several threads: its owner locks.
class HeapAddresses {
 public:
  using Address = DeviceAddress;

  // Takes the range of one card. REQUIRES: multiples of 32 MiB, a GiB or more.
  HeapAddresses(Address begin, Address end);

  // Returns null if there is no room. REQUIRES: bytes > 0, whole granules of 2 MiB.
  Address Take(std::uint64_t bytes);
  // REQUIRES: [begin, begin + bytes) was taken and not given back.
  void GiveBack(Address begin, std::uint64_t bytes);

 private:
  struct Area {
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;
    bool is_contexts = false;                     // never given back
    std::map<Address, std::uint64_t> holes = {};  // begin -> bytes
  };
  using Areas = std::map<Address, Area>;

  Address PlaceForArea(std::uint64_t bytes) const;
  static Address CutFrom(Area& area, std::uint64_t bytes);

  Address begin_;
  Address end_;
  Areas areas_;  // by begin
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_HEAP_ADDRESSES_H_
