// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_

#include <cstdint>

#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "base/units.h"

namespace memtrace {

// A growth worth making: map [address, address + size), and a request fits. It is a part of `hole`,
// in whole granules.
struct Growth {
  Block* hole = nullptr;
  DeviceAddress address;
  Bytes size = 0;
  uint32_t chunk = kLargestChunk;  // granules of a chunk at most

  // Returns the same growth in chunks of `granules`, the last one too as far as the hole goes: it
  // may map more than is missing. Growth in the middle of a hole becomes wider at its upper end.
  Growth InChunks(uint32_t granules, Bytes granularity) const;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_GROWTH_H_
