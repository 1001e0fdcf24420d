// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/private_pools.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

template <typename Visit>
void ForEachGroupOf(const SegmentGroups& groups, const PoolId& pool, Visit visit) {
  for (const auto& group : groups.all()) {
    if (group->key().pool == pool) visit(*group);
  }
}

absl::StatusOr<Pool*> FindPool(const Pools& pools, const PoolId& pool) {
  if (Pool* found = pools.Find(pool)) return found;
  return absl::NotFoundError(
      absl::StrCat("there is no pool (", pool.first, ", ", pool.second, ")"));
}

}  // namespace

void PrivatePools::Retain(const PoolId& pool) {
  const CardLock::Holder lock(lock_);
  heap_.leaving().KeepAll();  // a graph's replay may write to the pool's memory from now on
  heap_.pools().Retain(pool);
}

absl::Status PrivatePools::Release(const PoolId& pool) {
  const CardLock::Holder lock(lock_);
  absl::Status status = heap_.pools().Release(pool);
  heap_.ForgetUnusedPools();
  return status;
}

absl::Status PrivatePools::SetSource(const PoolId& pool, std::shared_ptr<MemorySource> source) {
  const CardLock::Holder lock(lock_);
  MEMTRACE_ASSIGN_OR_RETURN(Pool* const found, FindPool(heap_.pools(), pool));
  if (!heap_.groups().Forget(*found)) {
    return absl::FailedPreconditionError("the pool has memory already");
  }
  found->source = std::move(source);
  return absl::OkStatus();
}

absl::Status PrivatePools::SetNoSplit(const PoolId& pool) {
  const CardLock::Holder lock(lock_);
  MEMTRACE_ASSIGN_OR_RETURN(Pool* const found, FindPool(heap_.pools(), pool));
  found->no_split = true;
  return absl::OkStatus();
}

absl::Status PrivatePools::SetUseOnOom(const PoolId& pool, bool use) {
  const CardLock::Holder lock(lock_);
  MEMTRACE_ASSIGN_OR_RETURN(Pool* const found, FindPool(heap_.pools(), pool));
  found->use_on_oom = use;
  return absl::OkStatus();
}

absl::StatusOr<int> PrivatePools::Uses(const PoolId& pool) const {
  const CardLock::Holder lock(lock_);
  MEMTRACE_ASSIGN_OR_RETURN(Pool* const found, FindPool(heap_.pools(), pool));
  return found->uses;
}

// Blocks that other streams have used so far are excluded: that use may be outside the capture.
absl::Status PrivatePools::BeginRouting(const PoolId& pool, Pools::StreamFilter filter) {
  const CardLock::Holder lock(lock_);
  absl::Status status = heap_.pools().BeginRouting(pool, std::move(filter));
  CaptureFrees& captures = heap_.waiting().captures();
  if (!status.ok() || !captures.enabled()) return status;
  ForEachGroupOf(heap_.groups(), pool, [&](SegmentGroup& group) {
    group.blocks().ForEachInUse([&](Block* block) {
      if (!block->recorded_streams.empty()) captures.Exclude(block);
    });
  });
  return status;
}

absl::Status PrivatePools::EndRouting(const PoolId& pool) {
  const CardLock::Holder lock(lock_);
  absl::Status status = heap_.pools().EndRouting(pool);
  if (!heap_.pools().routing()) heap_.waiting().captures().Clear();
  heap_.waiting().ResumePostponed();
  heap_.ForgetUnusedPools();
  return status;
}

void PrivatePools::SetCaptureReuse(bool reuse) {
  const CardLock::Holder lock(lock_);
  heap_.waiting().captures().SetEnabled(reuse);
}

absl::StatusOr<PoolCheckpoint> PrivatePools::Checkpoint(const PoolId& pool) const {
  const CardLock::Holder lock(lock_);
  heap_.groups().MergeRecent();
  MEMTRACE_ASSIGN_OR_RETURN(Pool* const found, FindPool(heap_.pools(), pool));
  return MakeCheckpoint(heap_.groups(), *found);
}

absl::StatusOr<PoolRestoration> PrivatePools::Restore(const PoolCheckpoint& checkpoint) {
  const CardLock::Holder lock(lock_);
  heap_.groups().MergeRecent();
  if (const auto found = FindPool(heap_.pools(), checkpoint.pool); !found.ok())
    return found.status();
  heap_.leaving().KeepAll();
  MEMTRACE_RETURN_IF_ERROR(CheckCanRestore(heap_.groups(), checkpoint));
  std::vector<Block*> in_use;
  ForEachGroupOf(heap_.groups(), checkpoint.pool, [&](SegmentGroup& group) {
    group.blocks().ForEachInUse([&](Block* block) { in_use.push_back(block); });
  });
  std::sort(in_use.begin(), in_use.end(),
            [](const Block* a, const Block* b) { return a->address < b->address; });
  PoolRestoration restoration;
  for (Block* block : in_use) {
    restoration.freed.push_back(block->address);
    if (block->recorded_streams.empty()) {
      heap_.groups().OwnerOf(*block).Free(block);
    } else {
      heap_.waiting().Postpone(block);
    }
  }
  heap_.groups().MergeRecent();
  for (const auto& block : checkpoint.blocks) {
    Block* taken = nullptr;
    ForEachGroupOf(heap_.groups(), checkpoint.pool, [&](SegmentGroup& group) {
      if (taken == nullptr) taken = group.TakeAt(block.address, block.size);
    });
    if (taken == nullptr) return absl::InternalError("a block of the checkpoint was not free");
    restoration.allocated.push_back(heap_.HandOut(taken, block.requested, block.context));
  }
  return restoration;
}

}  // namespace memtrace
