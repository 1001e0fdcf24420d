// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_

#include <cstdint>

#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "base/units.h"

namespace memtrace {

// A useful growth: if [address, address + size) is mapped, a request fits. It is a part of `hole`,
// in whole granules.
struct Growth {
  Block* hole = nullptr;
  DeviceAddress address;
  Bytes size = 0;
  uint32_t chunk = kLargestChunk;  // the most granules of a chunk

  // Returns the same growth in chunks of `granules`, also the last one if the hole has room: it may
  // map more than is missing. A growth in the middle of a hole is extended at its upper end.
  Growth InChunks(uint32_t granules, Bytes granularity) const;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_
