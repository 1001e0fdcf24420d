// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceHeap's private pools.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allocator/heap/device_heap.h"

namespace memtrace {
namespace {

template <typename Visit>
void ForEachGroupOf(const SegmentGroups& groups, const PoolId& pool, Visit visit) {
  for (const auto& group : groups.all()) {
    if (group->key().pool == pool) visit(*group);
  }
}

}  // namespace

absl::StatusOr<Pool*> DeviceHeap::FindPool(const PoolId& pool) const {
  if (Pool* found = pools_.Find(pool)) return found;
  return absl::NotFoundError(
      absl::StrCat("there is no pool (", pool.first, ", ", pool.second, ")"));
}

absl::Status DeviceHeap::ReleasePool(const PoolId& pool) {
  absl::Status status = pools_.Release(pool);
  ForgetUnusedPools();
  return status;
}

// What other streams have used so far may have been used outside the capture.
absl::Status DeviceHeap::BeginRouting(const PoolId& pool, Pools::StreamFilter filter) {
  absl::Status status = pools_.BeginRouting(pool, std::move(filter));
  if (!status.ok() || !capture_frees_.enabled()) return status;
  ForEachGroupOf(groups_, pool, [&](SegmentGroup& group) {
    group.blocks().ForEachInUse([&](Block* block) {
      if (!block->recorded_streams.empty()) capture_frees_.Exclude(block);
    });
  });
  return status;
}

absl::Status DeviceHeap::EndRouting(const PoolId& pool) {
  absl::Status status = pools_.EndRouting(pool);
  if (!pools_.routing()) capture_frees_.Clear();
  TakeUpPutOff();
  ForgetUnusedPools();
  return status;
}

// Only a pool's: the default pool's memory may be handed out outside the graph, where nothing
// orders it after the graph's streams.
void DeviceHeap::NoteLastUses(Block* block) {
  const Pool* pool = GroupOf(*block).pool();
  if (pool != nullptr && pools_.IsRouted(*pool)) capture_frees_.Add(block);
}

void DeviceHeap::CompleteOrdered(StreamId stream) {
  for (Block* block : capture_frees_.TakeOrdered(stream)) {
    std::erase(put_off_, block);
    Complete(block);
  }
}

// Pools without users and memory. What has memory is kept until its blocks are freed and its chunks
// taken back.
void DeviceHeap::ForgetUnusedPools() {
  std::vector<PoolId> unused;
  for (const auto& pool : pools_.all()) {
    const bool is_unused = !pool->pinned() && !pools_.IsRouted(*pool);
    if (is_unused && groups_.Forget(*pool)) unused.push_back(pool->id);
  }
  for (const PoolId& id : unused) pools_.Forget(id);
}

absl::Status DeviceHeap::SetPoolSource(const PoolId& pool, std::shared_ptr<MemorySource> source) {
  const absl::StatusOr<Pool*> found = FindPool(pool);
  if (!found.ok()) return found.status();
  if (!groups_.Forget(**found)) {
    return absl::FailedPreconditionError("the pool has memory already");
  }
  (*found)->source = std::move(source);
  return absl::OkStatus();
}

absl::Status DeviceHeap::SetPoolNoSplit(const PoolId& pool) {
  const absl::StatusOr<Pool*> found = FindPool(pool);
  if (!found.ok()) return found.status();
  (*found)->no_split = true;
  return absl::OkStatus();
}

absl::Status DeviceHeap::SetPoolUseOnOom(const PoolId& pool, bool use) {
  const absl::StatusOr<Pool*> found = FindPool(pool);
  if (!found.ok()) return found.status();
  (*found)->use_on_oom = use;
  return absl::OkStatus();
}

absl::StatusOr<int> DeviceHeap::PoolUses(const PoolId& pool) const {
  const absl::StatusOr<Pool*> found = FindPool(pool);
  if (!found.ok()) return found.status();
  return (*found)->uses;
}

// A graph's buffers are at fixed addresses: who lets go of one between replays takes it back so.
AllocationResult DeviceHeap::AllocateAt(const AllocationRequest& request, Bytes size) {
  MergeRecent();
  SegmentGroup& group = GroupOf(request.stream, size);
  const bool is_whole = group.pool() != nullptr && group.pool()->no_split;
  Block* block = is_whole ? nullptr : group.TakeAt(request.at, size);
  if (block != nullptr) return Hand(block, request.bytes, request.context);
  return absl::NotFoundError(
      absl::StrCat(size, " bytes at 0x", absl::Hex(request.at), " are not free"));
}

absl::StatusOr<PoolCheckpoint> DeviceHeap::CheckpointPool(const PoolId& pool) {
  MergeRecent();
  const absl::StatusOr<Pool*> found = FindPool(pool);
  if (!found.ok()) return found.status();
  return MakeCheckpoint(groups_, **found);
}

absl::StatusOr<PoolRestoration> DeviceHeap::RestorePool(const PoolCheckpoint& checkpoint) {
  MergeRecent();
  if (const auto found = FindPool(checkpoint.pool); !found.ok()) return found.status();
  if (absl::Status can = CheckCanRestore(groups_, checkpoint); !can.ok()) return can;
  std::vector<Block*> in_use;
  ForEachGroupOf(groups_, checkpoint.pool, [&](SegmentGroup& group) {
    group.blocks().ForEachInUse([&](Block* block) { in_use.push_back(block); });
  });
  std::sort(in_use.begin(), in_use.end(),
            [](const Block* a, const Block* b) { return a->address < b->address; });
  PoolRestoration restoration;
  for (Block* block : in_use) {
    restoration.freed.push_back(block->address);
    if (block->recorded_streams.empty()) {
      GroupOf(*block).Free(block);
    } else {
      PutOff(block);
    }
  }
  MergeRecent();
  for (const auto& block : checkpoint.blocks) {
    Block* taken = nullptr;
    ForEachGroupOf(groups_, checkpoint.pool, [&](SegmentGroup& group) {
      if (taken == nullptr) taken = group.TakeAt(block.address, block.size);
    });
    if (taken == nullptr) return absl::InternalError("a block of the checkpoint was not free");
    restoration.allocated.push_back(Hand(taken, block.requested, block.context));
  }
  return restoration;
}

}  // namespace memtrace
