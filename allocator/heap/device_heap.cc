// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/device_heap.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/heap/parts/ledger.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

absl::Status NotInUse(DeviceAddress address, const char* guess) {
  return absl::NotFoundError(absl::StrCat("no block in use starts at ", address.ToString(), guess));
}

// Takes a block of planned memory; returns null without a plan.
Block* TakeSpare(SegmentGroup& group, Bytes size) {
  return group.planned() == nullptr ? nullptr : group.planned()->TakeSpare(size);
}

Block* TakeAny(SegmentGroup& group, Bytes size) {
  Block* block = group.Take(size);
  return block != nullptr ? block : TakeSpare(group, size);
}

struct FoundOnHost {
  SegmentGroup* group = nullptr;
  Block* block = nullptr;  // null if there is none
};

// Finds the block in use at `address` of which the host has a part.
FoundOnHost FindOnHost(const SegmentGroups& groups, DeviceAddress address) {
  for (const auto& group : groups.all()) {
    if (Block* block = group->blocks().FindOnHost(address)) return {group.get(), block};
  }
  return {};
}

}  // namespace

DeviceHeap::DeviceHeap(const HeapOptions& options, Vmm& vmm, StreamEvents& events,
                       AllocationObserver& observer, QuickGroups& quick)
    : device_(options.device),
      plan_(options.plan),
      vmm_(vmm),
      events_(events),
      accounting_(options.device, observer),
      room_(options.limit, vmm, accounting_.mapping()),
      groups_(vmm, events, accounting_, quick),
      waiting_(events, options.captures, pools_, groups_),
      leaving_(events, groups_),
      cache_rules_(options.cache, leaving_, accounting_),
      grower_(vmm, groups_, room_,
              options.spill > 0 ? kLargestMovableChunkWithSpill : kLargestMovableChunk) {
  if (plan_ != nullptr) groups_.Follow(*plan_, device_);
}

DeviceHeap::~DeviceHeap() {
  waiting_.Drain();
  groups_.WaitForAll().IgnoreError();
}

inline AllocationResult DeviceHeap::AllocateIn(SegmentGroup& group,
                                               const AllocationRequest& request, Bytes size) {
  const Bytes allowed = Minus(request.reject_above, accounting_.mapping().reserved());
  const DeviceAddress place = grower_.NextPlannedAddress(group, size);
  MEMTRACE_ASSIGN_OR_RETURN(Block* const placed, grower_.TryPlace(group, size, place, allowed));
  Block* block = placed != nullptr ? placed : group.Take(size);
  const bool may_be_rejected = request.reject_above != AllocationRequest{}.reject_above;
  if (block == nullptr && may_be_rejected && group.segments().LeastGrowth(size) > allowed) {
    block = TakeSpare(group, size);
    if (block == nullptr) return Reject(group, request, size);
  }
  if (block == nullptr) {
    const AttemptAccount::Mark before = accounting_.attempts().mark();
    const absl::StatusOr<Block*> obtained =
        Obtain(group, size, may_be_rejected ? DeviceAddress() : place);
    // If the driver lacks memory even for an event, this counts as a full card.
    if (!obtained.ok() && !absl::IsResourceExhausted(obtained.status())) return obtained.status();
    if (!obtained.ok() || *obtained == nullptr) {
      if (request.is_trial) accounting_.attempts().ForgetSince(before);
      return DescribeFailure(group, request, size);
    }
    block = *obtained;
    if (cache_rules_.has_limit()) cache_rules_.KeepLimit();
  }
  if (group.planned() != nullptr) group.planned()->Count(block->address == place);
  return HandOut(block, request.bytes, request.context);
}

AllocationResult DeviceHeap::Allocate(const AllocationRequest& request, Bytes size) {
  if (!pools_.movable().IsAwake(request.movable))
    return absl::FailedPreconditionError("the owner of the memory is asleep");
  waiting_.CompleteDone(request.stream);
  if (!request.at.is_null()) return AllocateAt(request, size);
  SegmentGroup& group = GroupOf(request, size);
  if (request.only_free) return TakeFree(group, request, size);
  return AllocateIn(group, request, size);
}

AllocationResult DeviceHeap::TakeFree(SegmentGroup& group, const AllocationRequest& request,
                                      Bytes size) {
  Block* block = group.planned() == nullptr ? group.Take(size) : nullptr;
  if (block == nullptr)
    return absl::ResourceExhaustedError("no free block of the stream is large enough");
  return HandOut(block, request.bytes, request.context);
}

// A graph's buffers have fixed addresses: a program that frees one between replays takes it back
// here.
AllocationResult DeviceHeap::AllocateAt(const AllocationRequest& request, Bytes size) {
  groups_.MergeRecent();
  SegmentGroup& group = GroupOf(request, size);
  const bool is_whole = group.pool() != nullptr && group.pool()->no_split;
  Block* block = is_whole ? nullptr : group.TakeAt(request.at, size);
  if (block != nullptr) return HandOut(block, request.bytes, request.context);
  return absl::NotFoundError(
      absl::StrCat(size, " bytes at ", request.at.ToString(), " are not free"));
}

DeviceAddress DeviceHeap::HandOut(Block* block, Bytes requested, ContextId context) {
  SegmentGroup& group = groups_.OwnerOf(*block);  // possibly a donor's
  accounting_.blocks().usage().MakeRoom(group.lane().share, group.key().small,
                                        AmountsOf(block->size, requested));
  return group.HandOut(block, requested, context);
}

absl::Status DeviceHeap::Free(DeviceAddress address) {
  SegmentGroup* group = groups_.OwnerOf(address);
  if (group == nullptr) return FreeOnHost(address);
  Block* block = group->blocks().Find(address);
  if (group->key().is_movable()) pools_.movable().ForgetShared(address);
  if (block->segment->sleep().is_asleep()) {
    group->StartWaiting(block);
    group->FinishWaiting(block);
  } else if (block->recorded_streams.empty()) {
    group->Free(block);
  } else {
    waiting_.Add(block);
  }
  return absl::OkStatus();
}

// Its memory is free when all work of the card has been waited for (Spill).
absl::Status DeviceHeap::FreeOnHost(DeviceAddress address) {
  const auto [group, block] = FindOnHost(groups_, address);
  if (block == nullptr) return NotInUse(address, ": freed twice?");
  group->StartWaiting(block);
  return absl::OkStatus();
}

absl::Status DeviceHeap::RecordStream(DeviceAddress address, StreamId stream) {
  const SegmentGroup* group = groups_.OwnerOf(address);
  if (group == nullptr) {
    const auto [owner, on_host] = FindOnHost(groups_, address);
    if (on_host == nullptr) return NotInUse(address, "");
    on_host->RecordStream(stream, owner->key().stream);
    return absl::OkStatus();
  }
  Block* block = group->blocks().Find(address);
  block->RecordStream(stream, group->key().stream);
  const bool is_used_outside =
      pools_.routing() && waiting_.captures().enabled() && !events_.IsCapturing(stream);
  if (is_used_outside) waiting_.captures().Exclude(block);
  return absl::OkStatus();
}

absl::Status DeviceHeap::EmptyCache(const PoolId& pool) {
  waiting_.ResumePostponed();
  waiting_.CompletePostponed();
  groups_.MergeRecent();
  leaving_.KeepAll();
  const bool is_all = pool == PoolId{};
  EndTurns();
  if (is_all) accounting_.attempts().CountWaitForAllStreams();
  absl::Status status = waiting_.CompleteAllOf(is_all ? nullptr : &pool);
  if (status.ok() && is_all) status = groups_.TakeBack(SegmentGroups::kEverything, nullptr);
  if (status.ok() && !is_all) {
    if (const Pool* its = pools_.Find(pool)) status = groups_.TakeBackFrom(*its);
  }
  ForgetUnusedPools();
  return status;
}

void DeviceHeap::EndStep() {
  waiting_.CompleteFinished();
  groups_.MergeRecent();
  cache_rules_.EndStep();
}

// Memory that a pool gets from its own source, or block by block, is not movable.
SegmentGroup& DeviceHeap::GroupOf(const AllocationRequest& request, Bytes size) {
  Pool* pool = pools_.routing() ? pools_.Route(request.stream) : nullptr;
  SegmentKey key{request.stream, pool == nullptr ? PoolId{} : pool->id, IsSmall(size)};
  const bool is_movable =
      request.movable != MovableOwner{} && (pool == nullptr || !pool->has_fixed_segments());
  if (is_movable) {
    key.small = false;
    key.movable = request.movable;
  }
  return groups_.Of(key, pool);
}

// Steps 3 to 7 of the class comment.
absl::StatusOr<Block*> DeviceHeap::Obtain(SegmentGroup& group, Bytes size, DeviceAddress place) {
  groups_.MergeRecent();
  absl::StatusOr<Block*> block = grower_.TryGrow(group, size);
  if (!block.ok() || *block != nullptr) return block;
  if (place.is_null()) block = grower_.TrySpare(group, size);
  if (!block.ok() || *block != nullptr) return block;
  accounting_.attempts().CountRetry();
  if (leaving_.KeepAll()) {
    if (Block* kept = TakeAny(group, size)) return kept;
  }
  block = TakeBackAndGrow(group, size, place);
  if (!block.ok() || *block != nullptr) return block;
  block = ObtainFromPending(group, size);
  if (block.ok() && *block == nullptr) return ObtainFromDonors(group, size);
  return block;
}

// Steps 4 and 5.
absl::StatusOr<Block*> DeviceHeap::TakeBackAndGrow(SegmentGroup& group, Bytes size,
                                                   DeviceAddress place) {
  EndTurns();
  for (const Bytes wanted : {grower_.Shortfall(group, size, place), SegmentGroups::kEverything}) {
    MEMTRACE_RETURN_IF_ERROR(groups_.TakeBack(wanted, &group));
    absl::StatusOr<Block*> block = grower_.TryPlace(group, size, place, /*most=*/~Bytes{0});
    if (!block.ok() || *block != nullptr) return block;
    block = grower_.TryGrow(group, size);
    if (!block.ok() || *block != nullptr) return block;
  }
  return grower_.TrySpare(group, size);
}

// Step 6.
absl::StatusOr<Block*> DeviceHeap::ObtainFromPending(SegmentGroup& group, Bytes size) {
  if (waiting_.empty()) return nullptr;
  accounting_.attempts().CountWaitForAllStreams();
  waiting_.CompletePostponed();
  if (Block* block = TakeAny(group, size)) return block;
  while (waiting_.has_pending()) {
    MEMTRACE_RETURN_IF_ERROR(waiting_.CompleteNext());
    if (Block* block = TakeAny(group, size)) return block;
  }
  MEMTRACE_RETURN_IF_ERROR(groups_.TakeBack(SegmentGroups::kEverything, &group));
  absl::StatusOr<Block*> block = grower_.TryGrow(group, size);
  return block.ok() && *block == nullptr ? grower_.TrySpare(group, size) : block;
}

// Step 7.
Block* DeviceHeap::ObtainFromDonors(const SegmentGroup& group, Bytes size) {
  Block* block = nullptr;
  ForEachDonor(group, [&](SegmentGroup& donor) {
    if (block == nullptr) block = TakeAny(donor, size);
  });
  return block;
}

// Calls `visit` for the groups of the same stream that may serve a request in place of `group`: the
// one of the other sizes, and, for the default pool, those of pools opened for it (use_on_oom).
template <typename Visit>
void DeviceHeap::ForEachDonor(const SegmentGroup& group, Visit visit) const {
  const auto visit_if_there = [&](const SegmentKey& key) {
    if (SegmentGroup* donor = groups_.Find(key)) visit(*donor);
  };
  SegmentKey key = group.key();
  key.small = !key.small;
  const bool has_whole_blocks = group.pool() != nullptr && group.pool()->has_fixed_segments();
  if (!has_whole_blocks) visit_if_there(key);
  if (group.pool() != nullptr || group.key().is_movable()) return;
  for (const auto& pool : pools_.all()) {
    if (pool->use_on_oom) visit_if_there({group.key().stream, pool->id, group.key().small});
  }
}

// Describes a rejection like a trial: it is neither counted nor reported, because the program has
// requested it.
OutOfMemoryEvent DeviceHeap::Reject(const SegmentGroup& group, AllocationRequest request,
                                    Bytes size) {
  request.is_trial = true;
  OutOfMemoryEvent event = DescribeFailure(group, request, size);
  event.is_rejected = true;
  return event;
}

OutOfMemoryEvent DeviceHeap::DescribeFailure(const SegmentGroup& group,
                                             const AllocationRequest& request, Bytes size) {
  const DeviceMemory card = vmm_.MemoryInfo().value_or(DeviceMemory{});
  const Bytes granularity = vmm_.granularity();
  const Bytes available = RoundDown(std::min(card.free, room_.RemainingUnderLimit()), granularity);
  OutOfMemoryEvent event;
  event.device = device_;
  event.stream = group.key().stream;
  event.pool = group.key().pool;
  event.requested = request.bytes;
  event.allocated = size;
  event.obtainable =
      group.segments().Obtainable(available, ReservationSize(card.total, granularity));
  ForEachDonor(group, [&](const SegmentGroup& donor) {
    event.obtainable = std::max(event.obtainable, donor.segments().Obtainable(0, 0));
  });
  event.limit = room_.limit();
  event.device_free = card.free;
  event.device_total = card.total;
  event.context = request.context;
  groups_.MergeRecent();
  event.ledger = LedgerOf(groups_, accounting_);
  if (!request.is_trial && !request.may_be_repeated) accounting_.attempts().OutOfMemory(event);
  return event;
}

// Graphs of such a pool may have been replayed on any stream.
void DeviceHeap::EndTurns() {
  TakingTurns& turns = pools_.turns();
  if (!turns.HasEnded() || groups_.IsAnyCaptured()) return;
  if (events_.WaitForAll().ok()) turns.EndUnused();
}

void DeviceHeap::ForgetUnusedPools() {
  std::vector<PoolId> unused;
  for (const auto& pool : pools_.all()) {
    const bool is_unused = !pool->pinned() && !pools_.IsRouted(*pool);
    if (is_unused && groups_.Forget(*pool)) unused.push_back(pool->id);
  }
  for (const PoolId& id : unused) pools_.Forget(id);
}

void DeviceHeap::CheckInvariants() const {
  Bytes mapped = 0;
  Bytes on_host = 0;
  Bytes allocated = 0;
  Bytes recent = 0;
  for (const auto& group : groups_.all()) {
    group->CheckInvariants();
    group->blocks().ForEachInUse([&](const Block* block) {
      if (!block->segment->sleep().is_asleep()) allocated += block->size;
    });
    for (const auto& segment : group->segments().all()) {
      mapped += segment->reservation().mapped() - segment->reservation().chunks().on_host();
      on_host += segment->reservation().chunks().on_host();
      recent += segment->blocks().recent().bytes();
    }
  }
  const AllocatorLedger sums = LedgerOf(groups_, accounting_);
  MEMTRACE_CHECK_EQ(sums.reserved, mapped);
  MEMTRACE_CHECK_EQ(sums.on_host, on_host);
  MEMTRACE_CHECK_EQ(sums.live_allocated, allocated);
  MEMTRACE_CHECK_LE(sums.live_requested, sums.live_allocated);
  MEMTRACE_CHECK_EQ(
      sums.live_allocated + sums.stream_wait + sums.cached + sums.holes + sums.pinned + recent,
      sums.reserved);
}

}  // namespace memtrace
