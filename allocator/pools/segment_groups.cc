// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/segment_groups.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace memtrace {
namespace {

bool IsPinned(const SegmentGroup& group) {
  return group.pool() != nullptr && group.pool()->pinned();
}

}  // namespace

SegmentGroup& SegmentGroups::Of(const SegmentKey& key, Pool* pool) {
  SegmentGroup*& group = by_key_[key];
  if (group == nullptr) {
    const bool is_plain = pool == nullptr && !key.is_movable();
    const bool has_plan = plan_ != nullptr && is_plain && !key.small;
    groups_.push_back(std::make_unique<SegmentGroup>(key, pool, has_plan ? NextSection() : nullptr,
                                                     LaneOf(key.stream), card_, accounting_));
    group = groups_.back().get();
    if (is_plain) quick_.AddGroup(*group);
  }
  return *group;
}

// Returns null if the plan has no section for the next stream.
const PlanSection* SegmentGroups::NextSection() {
  return plan_->Find(device_, next_planned_stream_++);
}

SegmentGroup* SegmentGroups::Find(const SegmentKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

Lane& SegmentGroups::LaneOf(StreamId stream) {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(),
                                  [&](const auto& lane) { return lane->stream == stream; });
  if (found != lanes_.end()) return **found;
  lanes_.push_back(std::make_unique<Lane>(stream));
  Lane& lane = *lanes_.back();
  accounting_.blocks().usage().Add(lane.share);
  quick_.AddLane(lane);
  return lane;
}

SegmentGroup* SegmentGroups::OwnerOf(DeviceAddress address) const {
  if (SegmentGroup* quick = quick_.At(address)) {
    return quick->blocks().Find(address) == nullptr ? nullptr : quick;
  }
  for (const auto& group : groups_) {
    if (group->blocks().Find(address) != nullptr) return group.get();
  }
  return nullptr;
}

absl::StatusOr<ExpandableSegment*> SegmentGroups::AddSegment(SegmentGroup& group,
                                                             const SegmentShape& shape) {
  absl::StatusOr<ExpandableSegment*> segment = group.segments().Add(shape);
  if (!segment.ok()) return segment;
  const Reservation& reservation = (*segment)->reservation();
  if (!group.key().is_movable())
    quick_.AddSegment(group, reservation.address(), reservation.range().size());
  return segment;
}

absl::Status SegmentGroups::TakeBack(Bytes wanted, const SegmentGroup* last) {
  Bytes taken = 0;
  struct Turn {
    bool planned, of_last;
  };
  for (const Turn turn : {Turn{false, false}, {false, true}, {true, false}, {true, true}}) {
    for (const auto& group : groups_) {
      if ((group.get() == last) != turn.of_last || taken >= wanted) continue;
      if (turn.planned && group->planned() == nullptr) continue;
      MEMTRACE_ASSIGN_OR_RETURN(const Bytes bytes,
                                TakeBackFrom(*group, wanted - taken, turn.planned));
      taken += bytes;
    }
  }
  return absl::OkStatus();
}

absl::Status SegmentGroups::TakeBackFrom(const Pool& pool) {
  for (const auto& group : groups_) {
    if (group->pool() != &pool) continue;
    MEMTRACE_RETURN_IF_ERROR(TakeBackFrom(*group, kEverything, /*planned=*/false).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> SegmentGroups::TakeBackFrom(SegmentGroup& group, Bytes wanted, bool planned) {
  Bytes taken = 0;
  bool has_waited = false;
  for (const auto& segment : group.segments().all()) segment->Trim(0).IgnoreError();
  if (IsPinned(group)) return taken;
  for (const auto& segment : group.segments().all()) {
    if (segment->shape().is_planned != planned) continue;
    if (taken >= wanted || segment->trimmable() == 0) continue;
    if (!std::exchange(has_waited, true)) {
      MEMTRACE_ASSIGN_OR_RETURN(const bool waited, WaitForUsersOf(group));
      if (!waited) return taken;
    }
    MEMTRACE_ASSIGN_OR_RETURN(const Bytes bytes, segment->Trim(wanted - taken));
    taken += bytes;
  }
  group.segments().DropUnmapped(/*all=*/false);
  return taken;
}

// Returns false, without waiting, if a capture forbids waiting.
absl::StatusOr<bool> SegmentGroups::WaitForUsersOf(const SegmentGroup& group) {
  Pool* pool = group.pool();
  absl::Status status;
  if (pool != nullptr && !pool->is_waited_for) {
    if (IsAnyCaptured()) return false;
    status = events_.WaitForAll();
    pool->is_waited_for = status.ok();
  } else {
    if (events_.IsCapturing(group.key().stream)) return false;
    status = WaitFor(group.key().stream);
  }
  if (!status.ok()) return status;
  return true;
}

bool SegmentGroups::IsAnyCaptured() const {
  return std::any_of(groups_.begin(), groups_.end(), [this](const auto& group) {
    return events_.IsCapturing(group->key().stream);
  });
}

void SegmentGroups::MergeRecent() {
  for (const auto& group : groups_) group->MergeRecent();
}

Bytes SegmentGroups::Reclaimable(const SegmentGroup& group) const {
  Bytes sum = 0;
  if (IsPinned(group)) return sum;
  for (const auto& segment : group.segments().all()) sum += segment->trimmable();
  return sum;
}

bool SegmentGroups::Forget(const Pool& pool) {
  bool is_empty = true;
  for (const auto& group : groups_) {
    if (group->pool() != &pool) continue;
    group->segments().DropUnmapped(/*all=*/true);
    is_empty = is_empty && group->segments().all().empty();
  }
  if (!is_empty) return false;
  absl::erase_if(by_key_, [&](const auto& entry) { return entry.second->pool() == &pool; });
  std::erase_if(groups_, [&](const auto& group) { return group->pool() == &pool; });
  return true;
}

absl::Status SegmentGroups::WaitForAll() {
  absl::Status first_failure;
  for (const auto& group : groups_) first_failure.Update(WaitFor(group->key().stream));
  return first_failure;
}

absl::Status SegmentGroups::WaitFor(StreamId stream) {
  const absl::StatusOr<EventId> event = events_.Record(stream);
  // A stream that the program has destroyed cannot record an event: then all work is waited for.
  if (!event.ok()) return IsAnyCaptured() ? event.status() : events_.WaitForAll();
  absl::Status waited = events_.Wait(*event);
  if (!waited.ok()) events_.Forget(*event);
  return waited;
}

}  // namespace memtrace
