// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/memory_sharing.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

// Walks the segment, which is slow enough only for sharing memory, not for each allocation.
std::optional<AddressRange> FindRange(const SegmentGroups& groups, DeviceAddress address) {
  std::optional<AddressRange> range;
  groups.ForEachSegment([&](const ExpandableSegment& segment) {
    if (!segment.reservation().range().Contains(address)) return;
    const Block* block = segment.blocks().first();
    while (block->end() <= address) block = block->next;
    const bool is_in_use = block->is(Block::State::kAllocated) || block->is(Block::State::kOnHost);
    if (is_in_use) range = block->range();
  });
  return range;
}

absl::StatusOr<std::vector<MappedChunk>> FindChunks(const SegmentGroups& groups,
                                                    DeviceAddress address) {
  const auto block = FindRange(groups, address);
  if (!block.has_value()) {
    return absl::NotFoundError(absl::StrCat(address.ToString(), " is in no block in use"));
  }
  std::vector<MappedChunk> chunks;
  groups.ForEachSegment([&](const ExpandableSegment& segment) {
    if (segment.reservation().range().Contains(address))
      chunks = segment.reservation().chunks().Under(*block);
  });
  return chunks;
}

}  // namespace

std::optional<AddressRange> MemorySharing::BaseAllocation(DeviceAddress address) const {
  const CardLock::Holder lock(lock_);
  return FindRange(heap_.groups(), address);
}

absl::StatusOr<std::vector<MappedChunk>> MemorySharing::ChunksUnder(DeviceAddress address) const {
  const CardLock::Holder lock(lock_);
  return FindChunks(heap_.groups(), address);
}

absl::StatusOr<std::vector<SharedChunk>> MemorySharing::Share(DeviceAddress address) {
  const CardLock::Holder lock(lock_);
  MEMTRACE_ASSIGN_OR_RETURN(const auto chunks, FindChunks(heap_.groups(), address));
  std::vector<SharedChunk> shared;
  absl::Status status;
  heap_.groups().ForEachSegment([&](ExpandableSegment& segment) {
    if (!segment.reservation().range().Contains(address)) return;
    if (segment.sleep().is_asleep())
      status.Update(absl::FailedPreconditionError("the owner of the memory is asleep"));
    if (segment.spill().IsOnHost(address))
      status.Update(absl::FailedPreconditionError("the memory is on the host"));
    for (const MappedChunk& chunk : chunks) {
      auto descriptor = segment.spill().Share(chunk);
      status.Update(descriptor.status());
      if (descriptor.ok()) shared.push_back({chunk, *std::move(descriptor)});
    }
  });
  if (!status.ok()) return status;
  NoteShared(address);
  return shared;
}

// Memory that another process has cannot be taken off the card, so its owner cannot sleep.
void MemorySharing::NoteShared(DeviceAddress address) {
  const auto block = FindRange(heap_.groups(), address);
  const SegmentGroup* group = block.has_value() ? heap_.groups().OwnerOf(block->begin) : nullptr;
  if (group != nullptr && group->key().is_movable())
    heap_.pools().movable().NoteShared(block->begin, group->key().movable);
}

absl::Status MemorySharing::Admit(DeviceIndex peer) {
  const CardLock::Holder lock(lock_);
  std::vector<MappedChunk> mapped;
  for (const auto& group : heap_.groups().all()) {
    if (group->segments().has_source()) continue;
    for (const auto& segment : group->segments().all()) {
      const Reservation& reservation = segment->reservation();
      const auto chunks = reservation.chunks().Under(reservation.range());
      mapped.insert(mapped.end(), chunks.begin(), chunks.end());
    }
  }
  return vmm_.Admit(peer, mapped);
}

}  // namespace memtrace
