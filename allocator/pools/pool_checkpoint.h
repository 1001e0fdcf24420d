// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_
#define MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_

#include <vector>

#include "absl/status/status.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// The blocks of a private pool that were in use at one moment. torch's cudagraph trees return to it
// before they replay or record another path through a model, so that the allocator sees the pool as
// it was when the previous graph was captured.
struct PoolCheckpoint {
  struct Allocated {
    DeviceAddress address;
    Bytes size = 0;
    Bytes requested = 0;
    ContextId context{};
  };

  PoolId pool;
  std::vector<Allocated> blocks;  // in descending order of addresses
};

// The changes made by a restoration. An address may be in both lists: its block was freed and taken
// anew.
struct PoolRestoration {
  std::vector<DeviceAddress> freed;
  std::vector<DeviceAddress> allocated;
};

// Returns the blocks of `pool` in use. REQUIRES: no block of the pool waits for other streams.
PoolCheckpoint MakeCheckpoint(const SegmentGroups& groups, const Pool& pool);

// Returns OK if `checkpoint` can be restored: every block of it lies in memory that the pool still
// has. kFailedPrecondition otherwise.
absl::Status CheckCanRestore(const SegmentGroups& groups, const PoolCheckpoint& checkpoint);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_POOL_CHECKPOINT_H_
