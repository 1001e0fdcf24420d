// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_HOLES_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_HOLES_H_

#include <cstddef>
#include <optional>

#include "absl/container/btree_map.h"
#include "allocator/blocks/block.h"
#include "allocator/segment/growth.h"
#include "base/units.h"

namespace memtrace {

// The unmapped blocks of one segment, by address, and the growths they allow: together with the
// free blocks next to a hole, a request may need less new memory than its size.
//
// Thread rule: none, guarded by the owner's lock.
class Holes {
 public:
  // Holes begin and end at multiples of `granularity`, counted from the segment's start.
  explicit Holes(Bytes granularity) : granularity_(granularity) {}

  // Adds a hole, replacing one that starts at the same address.
  void Put(Block* hole) { holes_.insert_or_assign(hole->address, hole); }
  void Remove(const Block* hole) { holes_.erase(hole->address); }

  // Returns the hole that contains `address`; null if none does.
  Block* At(DeviceAddress address) const;

  // Returns the growth that maps the fewest granules for a request of `size`, at the lowest address
  // among equals; none if no hole with its free neighbours is long enough.
  std::optional<Growth> PlanGrowth(Bytes size) const;

  // Returns the largest request that would fit into a hole and its free neighbours if the driver
  // had `available` more bytes, in whole granules; 0 without holes.
  Bytes Obtainable(Bytes available) const;

  size_t size() const { return holes_.size(); }

 private:
  const Bytes granularity_;
  absl::btree_map<DeviceAddress, Block*> holes_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_HOLES_H_
