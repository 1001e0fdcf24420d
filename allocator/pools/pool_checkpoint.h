// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_
#define MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_

#include <vector>

#include "absl/status/status.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// Which blocks of a private pool were in use at one moment, and where. torch's cudagraph trees go
// back to it before they replay or record another path through a model: the pool then looks to the
// allocator as it did when the graph before was captured.
struct PoolCheckpoint {
  struct Allocated {
    DeviceAddress address;
    Bytes size = 0;
    Bytes requested = 0;
    ContextId context{};
  };

  PoolId pool;
  std::vector<Allocated> blocks;  // by descending address
};

// What going back did. An address may be in both: its block was given back and taken anew.
struct PoolRestoration {
  std::vector<DeviceAddress> freed;
  std::vector<DeviceAddress> allocated;
};

// REQUIRES: no block of the pool waits for other streams.
PoolCheckpoint MakeCheckpoint(const SegmentGroups& groups, const Pool& pool);

// Whether going back to `checkpoint` would succeed: every block of it lies in memory that the pool
// still has. kFailedPrecondition if not.
absl::Status CheckCanRestore(const SegmentGroups& groups, const PoolCheckpoint& checkpoint);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_
