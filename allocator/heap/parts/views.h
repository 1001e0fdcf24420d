// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_VIEWS_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_VIEWS_H_

#include <cstdint>
#include <vector>

#include "allocator/card/unique_descriptor.h"
#include "allocator/card/vmm.h"
#include "base/units.h"

namespace memtrace {

// Views for snapshots. A SegmentView is one mapped, contiguous range of a segment, with its blocks.
struct BlockView {
  DeviceAddress address;
  Bytes size = 0;
  Bytes requested = 0;
  enum class State { kAllocated, kPendingFree, kFree } state = State::kFree;
  ContextId context{};
};
struct SegmentView {
  DeviceAddress address;
  Bytes size = 0;
  StreamId stream{};
  PoolId pool;
  bool small = false;
  bool expandable = true;         // false for a fixed segment
  std::vector<BlockView> blocks;  // these tile [address, address + size) in order
};

// A chunk and a descriptor with which another process can map it.
struct SharedChunk {
  MappedChunk chunk;
  UniqueDescriptor descriptor;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_VIEWS_H_
