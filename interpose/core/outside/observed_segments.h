// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_

#include <map>
#include <memory_resource>

#include "base/units.h"

namespace memtrace {

// Tracks where another allocator's blocks lie in its segments, as far as needed to know how much
// each occupies: a block gets more than requested if the rest of the free memory that it is cut
// from is not worth splitting off.
//
//   segment   |  block A  |   free   |  block C  |
//   B comes   |  block A  |  B    :??|  block C  |    B's, if at most `unsplit` bytes
//
// Segments that grow have no rest to keep, so they are not added and their blocks count as
// requested. Allocates nothing once the number of living blocks has reached its peak. Thread rule:
// one thread at a time.
class ObservedSegments {
 public:
  void Add(DeviceAddress address, Bytes bytes) { segments_[address] = bytes; }
  void Remove(DeviceAddress address) { segments_.erase(address); }

  // Returns the bytes that a block occupies which needs `least` bytes, usually `usual`. If
  // `unsplit` is 0 that is `least`; the segment's other blocks must then have 0 as well.
  Bytes Take(DeviceAddress address, Bytes usual, Bytes least, Bytes unsplit);
  // Returns the result of Take for this block.
  Bytes Occupied(DeviceAddress address, Bytes usual) const;
  void GiveBack(DeviceAddress address) { blocks_.erase(address); }

 private:
  // Returns the free bytes from `address` on; 0 outside the segments.
  Bytes Free(DeviceAddress address) const;

  std::pmr::unsynchronized_pool_resource nodes_;
  std::pmr::map<DeviceAddress, Bytes> segments_{&nodes_};
  // Blocks in a segment that was added, and blocks whose size is not the usual one.
  std::pmr::map<DeviceAddress, Bytes> blocks_{&nodes_};
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_
