// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/sleep.h"

#include <algorithm>
#include <utility>

#include "allocator/heap/parts/wake_need.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

Bytes SumOf(const std::vector<AddressRange>& ranges) {
  Bytes sum = 0;
  for (const AddressRange& range : ranges) sum += range.size();
  return sum;
}

template <typename Visit>
void ForEachSegment(const std::vector<SegmentGroup*>& groups, Visit visit) {
  for (const SegmentGroup* group : groups) {
    for (const auto& segment : group->segments().all()) visit(*segment);
  }
}

bool HasPending(const ExpandableSegment& segment) {
  for (const Block* block = segment.blocks().first(); block != nullptr; block = block->next) {
    if (block->is(Block::State::kPendingFree)) return true;
  }
  return false;
}

}  // namespace

absl::Status Sleep::PutToSleep(MovableOwner owner, Keep keep, Moved& moved) {
  {
    const CardLock::Holder lock(lock_);
    if (const auto known = sleepers_.find(owner);
        known != sleepers_.end() && !known->second.is_falling_asleep) {
      return HasMemory(owner) ? PutAway(owner, moved) : absl::AlreadyExistsError("asleep");
    }
    MEMTRACE_RETURN_IF_ERROR(Begin(owner, keep, moved));
  }
  // Without the lock, because work on the card may wait for a thread that needs it.
  const absl::Status waited = events_.WaitForAll();
  const CardLock::Holder lock(lock_);
  absl::Status status = waited.ok() ? Finish(owner, moved) : waited;
  if (const auto failed = sleepers_.find(owner); failed->second.is_falling_asleep) {
    sleepers_.erase(failed);
    heap_.pools().movable().SetAwake(owner);
  }
  return status;
}

// Refuses, or makes requests of the owner fail from now on.
absl::Status Sleep::Begin(MovableOwner owner, Keep keep, Moved& moved) {
  if (sleepers_.contains(owner)) return absl::AlreadyExistsError("falling asleep");
  const Groups groups = GroupsOf(owner);
  if (groups.empty()) return absl::NotFoundError("no memory of the owner");
  if (heap_.groups().IsAnyCaptured()) return absl::UnavailableError("a graph is being captured");
  moved.shared = heap_.pools().movable().shared(owner);
  if (moved.shared > 0) return absl::FailedPreconditionError("other processes have blocks of it");
  moved.has_graph = std::any_of(groups.begin(), groups.end(), [](const SegmentGroup* group) {
    return group->pool() != nullptr && group->pool()->pinned();
  });
  sleepers_[owner].keep = keep;
  heap_.pools().movable().SetAsleep(owner);
  return absl::OkStatus();
}

absl::Status Sleep::Finish(MovableOwner owner, Moved& moved) {
  MEMTRACE_RETURN_IF_ERROR(spill_.Settle());
  MEMTRACE_RETURN_IF_ERROR(CompleteFrees(owner));
  Sleeper& sleeper = sleepers_[owner];
  MEMTRACE_RETURN_IF_ERROR(SaveContents(owner, sleeper, moved));
  sleeper.is_falling_asleep = false;
  ++sleeping;
  CountAsleep(GroupsOf(owner));
  ForEachSegment(GroupsOf(owner), [](ExpandableSegment& segment) { segment.spill().FallAsleep(); });
  return PutAway(owner, moved);
}

// Completes the owner's waiting frees, whose work is done, and merges its free memory.
absl::Status Sleep::CompleteFrees(MovableOwner owner) {
  WaitingFrees& waiting = heap_.waiting();
  waiting.CompleteFinished();
  bool has_pending = false;
  const auto look = [&](const ExpandableSegment& segment) { has_pending |= HasPending(segment); };
  ForEachSegment(GroupsOf(owner), look);
  if (std::exchange(has_pending, false))
    MEMTRACE_RETURN_IF_ERROR(waiting.CompleteAllOf(/*pool=*/nullptr));
  ForEachSegment(GroupsOf(owner), look);
  if (has_pending) return absl::UnavailableError("a graph that is captured uses a freed block");
  heap_.groups().MergeRecent();
  heap_.leaving().KeepAll();
  return absl::OkStatus();
}

absl::Status Sleep::SaveContents(MovableOwner owner, Sleeper& sleeper, Moved& moved) {
  if (sleeper.keep == Keep::kNothing) return absl::OkStatus();
  const std::vector<AddressRange> ranges = RangesInUse(owner);
  moved.needed = SumOf(ranges);
  moved.available = host_.left();
  auto copy = host_.Save(ranges);
  if (!copy.ok()) return copy.status();
  moved.is_pinned = copy->is_pinned;
  for (const HostPiece& piece : copy->pieces) moved.host += piece.size;
  sleeper.copy = *std::move(copy);
  return absl::OkStatus();
}

void Sleep::CountAsleep(const Groups& groups) {
  for (const SegmentGroup* group : groups) {
    group->blocks().ForEachInUse([&](Block* block) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      block->recorded_streams.clear();
      heap_.accounting().blocks().Freed(*block, group->key(), group->lane().share);
    });
  }
}

// Makes room for all blocks of a group at once: the peaks are those after the last one in any case.
void Sleep::CountAwake(const Groups& groups) {
  BlockAccount& account = heap_.accounting().blocks();
  for (const SegmentGroup* group : groups) {
    UsageShare& share = group->lane().share;
    Amounts more{};
    group->blocks().ForEachInUse([&](const Block* block) {
      const Amounts one = AmountsOf(block->size, block->requested);
      for (size_t q = 0; q < kQuantities; ++q) more[q] += one[q];
    });
    account.usage().MakeRoom(share, group->key().small, more);
    group->blocks().ForEachInUse(
        [&](const Block* block) { account.Allocated(*block, group->key(), share); });
  }
}

absl::Status Sleep::PutAway(MovableOwner owner, Moved& moved) {
  absl::Status status;
  ForEachSegment(GroupsOf(owner), [&](ExpandableSegment& segment) {
    const Bytes before = segment.spill().on_card();
    status.Update(segment.sleep().PutAway());
    moved.bytes += before - segment.spill().on_card();
  });
  return status;
}

absl::Status Sleep::Wake(MovableOwner owner, Moved& moved) {
  const CardLock::Holder lock(lock_);
  const auto found = sleepers_.find(owner);
  if (found == sleepers_.end() || found->second.is_falling_asleep)
    return absl::NotFoundError("not asleep");
  absl::Status status = BringBack(owner, moved);
  if (status.ok()) status = Fill(owner, found->second);
  if (!status.ok()) {
    Moved undone;
    PutAway(owner, undone).IgnoreError();  // it is asleep in any case
    moved.bytes = 0;
    return status;
  }
  ForEachSegment(GroupsOf(owner), [](ExpandableSegment& segment) { segment.sleep().WakeUp(); });
  CountAwake(GroupsOf(owner));
  host_.Drop(found->second.copy);
  sleepers_.erase(found);
  --sleeping;
  heap_.pools().movable().SetAwake(owner);
  heap_.ForgetUnusedPools();
  return absl::OkStatus();
}

absl::Status Sleep::BringBack(MovableOwner owner, Moved& moved) {
  const Groups groups = GroupsOf(owner);
  for (const SegmentGroup* group : groups) moved.needed += NeedOfWake(*group);
  MEMTRACE_RETURN_IF_ERROR(MakeRoom(moved));
  absl::Status status;
  for (const bool is_last : {false, true}) {
    status = absl::OkStatus();
    for (const SegmentGroup* group : groups) {
      for (const auto& segment : group->segments().all())
        if (status.ok()) status = segment->sleep().BringBack(WantedByWake(*group));
    }
    if (!absl::IsResourceExhausted(status)) break;
    // The card has room, yet the driver refused: it cannot map all the memory that it calls free.
    if (!is_last)
      MEMTRACE_RETURN_IF_ERROR(heap_.groups().TakeBack(SegmentGroups::kEverything, nullptr));
  }
  moved.bytes = moved.needed;
  return status;
}

// Takes back what the card lacks. A wake that cannot succeed is not begun.
absl::Status Sleep::MakeRoom(Moved& moved) {
  const auto available = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> Bytes {
    const absl::StatusOr<DeviceMemory> card = heap_.room().QueryDriver();
    const Bytes free = card.ok() ? card->free : 0;
    return std::min(free, heap_.room().RemainingUnderLimit());
  };
  moved.available = available();
  if (moved.needed <= moved.available) return absl::OkStatus();
  heap_.waiting().CompleteFinished();
  heap_.groups().MergeRecent();
  heap_.leaving().KeepAll();
  MEMTRACE_RETURN_IF_ERROR(heap_.groups().TakeBack(moved.needed - moved.available, nullptr));
  moved.available = available();
  if (moved.needed <= moved.available) return absl::OkStatus();
  return absl::ResourceExhaustedError("the card has too little left");
}

absl::Status Sleep::Fill(MovableOwner owner, const Sleeper& sleeper) {
  const std::vector<AddressRange> ranges = RangesInUse(owner);
  if (ranges.empty()) return absl::OkStatus();
  return sleeper.keep == Keep::kHost ? host_.Restore(sleeper.copy, ranges) : host_.Clear(ranges);
}

absl::Status Sleep::Read(const AddressRange& range, void* host) {
  const CardLock::Holder lock(lock_);
  for (const auto& [owner, sleeper] : sleepers_) {
    if (HostCopies::Read(sleeper.copy, range, host)) return absl::OkStatus();
  }
  return absl::NotFoundError("the memory does not sleep with a copy");
}

MovableOwner Sleep::OwnerAsleepAt(DeviceAddress address) {
  const CardLock::Holder lock(lock_);
  for (const auto& group : heap_.groups().all()) {
    for (const auto& segment : group->segments().all()) {
      if (segment->sleep().is_asleep() && segment->reservation().range().Contains(address))
        return group->key().movable;
    }
  }
  return {};
}

std::vector<Sleep::Owner> Sleep::owners() {
  const CardLock::Holder lock(lock_);
  absl::btree_map<MovableOwner, Owner> all;
  for (const auto& group : heap_.groups().all()) {
    if (!group->key().is_movable()) continue;
    Owner& owner = all[group->key().movable];
    owner.owner = group->key().movable;
    owner.asleep += NeedOfWake(*group);
    for (const auto& segment : group->segments().all()) owner.on_card += segment->spill().on_card();
  }
  for (const auto& [owner, sleeper] : sleepers_) {
    Owner& told = all[owner];
    told.owner = owner;
    told.is_asleep = !sleeper.is_falling_asleep;
    told.keep = sleeper.keep;
    for (const HostPiece& piece : sleeper.copy.pieces) told.host += piece.size;
  }
  std::vector<Owner> list;
  for (const auto& [id, owner] : all) list.push_back(owner);
  return list;
}

Bytes Sleep::ReleaseHostMemory() {
  const CardLock::Holder lock(lock_);
  return host_.ReleasePool();
}

Bytes Sleep::pooled() {
  const CardLock::Holder lock(lock_);
  return host_.pooled();
}

bool Sleep::HasMemory(MovableOwner owner) const {
  Bytes mapped = 0;
  ForEachSegment(GroupsOf(owner), [&](const ExpandableSegment& segment) {
    mapped += segment.reservation().mapped();
  });
  return mapped > 0;
}

Sleep::Groups Sleep::GroupsOf(MovableOwner owner) const {
  Groups groups;
  for (const auto& group : heap_.groups().all()) {
    if (group->key().movable == owner) groups.push_back(group.get());
  }
  return groups;
}

// In ascending order.
std::vector<AddressRange> Sleep::RangesInUse(MovableOwner owner) const {
  std::vector<AddressRange> ranges;
  ForEachSegment(GroupsOf(owner), [&](const ExpandableSegment& segment) {
    const std::vector<AddressRange> more = segment.sleep().RangesOf(SegmentSleep::Wanted::kInUse);
    ranges.insert(ranges.end(), more.begin(), more.end());
  });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return ranges;
}

}  // namespace memtrace
