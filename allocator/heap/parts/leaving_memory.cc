// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/leaving_memory.h"

#include <utility>

namespace memtrace {

LeavingMemory::~LeavingMemory() {
  for (const Part& part : parts_) events_.Forget(part.event);
}

Bytes LeavingMemory::Available() const {
  Bytes sum = 0;
  for (const auto& group : groups_.all()) {
    if (MayLeave(*group)) sum += groups_.Reclaimable(*group);
  }
  return sum;
}

LeavingMemory::Ticket LeavingMemory::Start(Bytes wanted) {
  const Ticket ticket{++last_ticket_};
  Bytes sum = 0;
  for (const bool planned : {false, true}) {
    for (const auto& group : groups_.all()) {
      if (sum >= wanted) return ticket;
      if (planned && group->planned() == nullptr) continue;
      if (MayLeave(*group)) sum += StartFrom(*group, wanted - sum, planned, ticket);
    }
  }
  return ticket;
}

bool LeavingMemory::MayLeave(const SegmentGroup& group) const {
  const Pool* pool = group.pool();
  const bool may_be_replayed = pool != nullptr && (pool->pinned() || !pool->is_waited_for);
  return !may_be_replayed && !group.segments().has_source() &&
         !events_.IsCapturing(group.key().stream);
}

Bytes LeavingMemory::StartFrom(SegmentGroup& group, Bytes wanted, bool planned, Ticket ticket) {
  Part part{.ticket = ticket, .group = &group, .event = {}, .blocks = {}};
  Bytes sum = 0;
  for (const auto& segment : group.segments().all()) {
    if (segment->shape().is_planned != planned || sum >= wanted) continue;
    if (segment->sleep().is_asleep())
      continue;  // what the driver has left there goes at its next try
    for (Block* block : segment->StartLeaving(wanted - sum)) {
      sum += block->size;
      part.blocks.push_back(block);
    }
  }
  if (part.blocks.empty()) return 0;
  const absl::StatusOr<EventId> event = events_.Record(group.key().stream);
  if (!event.ok()) {
    Keep(part);
    return 0;
  }
  part.event = *event;
  parts_.push_back(std::move(part));
  return sum;
}

Bytes LeavingMemory::UnmapDone(Ticket ticket) {
  Bytes sum = 0;
  std::erase_if(parts_, [&](const Part& part) {
    if (part.ticket != ticket || !events_.Done(part.event).value_or(false)) return false;
    for (Block* block : part.blocks) sum += block->segment->Leave(block);
    part.group->segments().DropUnmapped(/*all=*/false);
    return true;
  });
  return sum;
}

Bytes LeavingMemory::pending(Ticket ticket) const {
  Bytes sum = 0;
  for (const Part& part : parts_) {
    if (part.ticket != ticket) continue;
    for (const Block* block : part.blocks) sum += block->size;
  }
  return sum;
}

void LeavingMemory::Keep(Ticket ticket) {
  std::erase_if(parts_, [&](const Part& part) {
    if (part.ticket != ticket) return false;
    events_.Forget(part.event);
    Keep(part);
    return true;
  });
}

bool LeavingMemory::KeepAll() {
  for (const Part& part : parts_) {
    events_.Forget(part.event);
    Keep(part);
  }
  return !std::exchange(parts_, {}).empty();
}

void LeavingMemory::Keep(const Part& part) {
  for (Block* block : part.blocks) block->segment->blocks().TakeUp(block);
}

}  // namespace memtrace
