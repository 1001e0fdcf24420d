// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_

#include <map>
#include <memory_resource>

#include "base/units.h"

namespace memtrace {

// Where another allocator's blocks lie in its segments, as far as it takes to know how much each
// occupies: a block gets more than was asked for where the rest of the free memory that it is cut
// from is not worth splitting off.
//
//   segment   |  block A  |   free   |  block C  |
//   B comes   |  block A  |  B    :??|  block C  |    B's, if at most `unsplit` bytes
//
// Segments that grow have no rest to keep, so they are not told and their blocks are as asked for.
// Allocates nothing once as many blocks have lived as ever will at a time. Thread rule: one at a
// time.
class ObservedSegments {
 public:
  void Add(DeviceAddress address, Bytes bytes) { segments_[address] = bytes; }
  void Remove(DeviceAddress address) { segments_.erase(address); }

  // What a block occupies that needs `least` bytes, usually `usual`. `unsplit` = 0: `least`, in a
  // segment of which that holds for all blocks.
  Bytes Take(DeviceAddress address, Bytes usual, Bytes least, Bytes unsplit);
  // What Take said of this block.
  Bytes Occupied(DeviceAddress address, Bytes usual) const;
  void GiveBack(DeviceAddress address) { blocks_.erase(address); }

 private:
  // All that is free from `address` on; 0 outside the segments.
  Bytes Free(DeviceAddress address) const;

  std::pmr::unsynchronized_pool_resource nodes_;
  std::pmr::map<DeviceAddress, Bytes> segments_{&nodes_};
  // Those with a rest to ask about, and those whose size is not the usual one.
  std::pmr::map<DeviceAddress, Bytes> blocks_{&nodes_};
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OBSERVED_SEGMENTS_H_
