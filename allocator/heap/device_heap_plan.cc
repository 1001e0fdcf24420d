// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What DeviceHeap does for groups that follow a plan (docs/plan.md).
#include <algorithm>
#include <optional>

#include "allocator/heap/device_heap.h"

namespace memtrace {

// Where the plan has the next request of the group; 0 if it is not planned.
DeviceAddress DeviceHeap::NextPlace(SegmentGroup& group, Bytes size) {
  PlannedMemory* planned = group.planned();
  if (planned == nullptr) return 0;
  const std::optional<Bytes> offset = planned->Next(size);
  if (!offset.has_value()) return 0;
  // Without address space for it there is no plan, until there is.
  if (planned->segment() == nullptr) {
    const auto segment = groups_.AddSegment(group, planned->Shape(vmm_.granularity()));
    if (!segment.ok()) return 0;
    planned->Use(**segment);
  }
  return planned->segment()->reservation().address() + *offset;
}

// The block at its place, of which no more than `most` bytes may have to be mapped; null if
// something there is in use, or the card has too little left.
absl::StatusOr<Block*> DeviceHeap::TryPlace(SegmentGroup& group, DeviceAddress place, Bytes size,
                                            Bytes most) {
  if (place == 0) return nullptr;
  for (;;) {
    const auto missing = group.planned()->MissingAt(place, size);
    if (!missing.has_value()) return nullptr;
    if (missing->bytes == 0) return group.TakeAt(place, size);
    if (missing->bytes > std::min(most, Unreserved())) return nullptr;
    absl::Status status = Grow(group, missing->first);
    if (absl::IsResourceExhausted(status)) return nullptr;
    if (!status.ok()) return status;
  }
}

// From planned memory, whose places others may need soon.
absl::StatusOr<Block*> DeviceHeap::TrySpare(SegmentGroup& group, Bytes size) {
  PlannedMemory* planned = group.planned();
  if (planned == nullptr) return nullptr;
  if (Block* block = planned->TakeSpare(size)) return block;
  const auto growth = planned->PlanSpareGrowth(size);
  if (!growth.has_value() || growth->size > Unreserved()) return nullptr;
  absl::Status status = Grow(group, *growth);
  if (absl::IsResourceExhausted(status)) return nullptr;
  if (!status.ok()) return status;
  return planned->TakeSpare(size);
}

PlanUse DeviceHeap::plan_use() const {
  PlanUse sum;
  for (const auto& group : groups_.all()) {
    if (group->planned() == nullptr) continue;
    sum.placed += group->planned()->use().placed;
    sum.elsewhere += group->planned()->use().elsewhere;
  }
  return sum;
}

}  // namespace memtrace
