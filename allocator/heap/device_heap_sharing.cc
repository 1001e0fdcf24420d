// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceHeap's memory for others: processes and cards.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allocator/heap/device_heap.h"

namespace memtrace {

absl::StatusOr<std::vector<MappedChunk>> DeviceHeap::ChunksUnder(DeviceAddress address) const {
  const auto block = BaseAllocation(address);
  if (!block.has_value()) {
    return absl::NotFoundError(absl::StrCat("0x", absl::Hex(address), " is in no block in use"));
  }
  std::vector<MappedChunk> chunks;
  groups_.ForEachSegment([&](const ExpandableSegment& segment) {
    if (segment.reservation().Contains(address))
      chunks = segment.reservation().ChunksUnder(block->address, block->size);
  });
  return chunks;
}

absl::StatusOr<std::vector<SharedChunk>> DeviceHeap::Share(DeviceAddress address) {
  const auto chunks = ChunksUnder(address);
  if (!chunks.ok()) return chunks.status();
  std::vector<SharedChunk> shared;
  absl::Status status;
  groups_.ForEachSegment([&](ExpandableSegment& segment) {
    if (!segment.reservation().Contains(address)) return;
    for (const MappedChunk& chunk : *chunks) {
      auto descriptor = segment.reservation().Share(chunk);
      status.Update(descriptor.status());
      if (descriptor.ok()) shared.push_back({chunk, *std::move(descriptor)});
    }
  });
  if (!status.ok()) return status;
  return shared;
}

absl::Status DeviceHeap::Admit(DeviceIndex peer) {
  std::vector<MappedChunk> mapped;
  for (const auto& group : groups_.all()) {
    if (group->segments().has_source()) continue;
    for (const auto& segment : group->segments().all()) {
      const Reservation& reservation = segment->reservation();
      const auto chunks = reservation.ChunksUnder(reservation.address(), reservation.size());
      mapped.insert(mapped.end(), chunks.begin(), chunks.end());
    }
  }
  return vmm_.Admit(peer, mapped);
}

}  // namespace memtrace
