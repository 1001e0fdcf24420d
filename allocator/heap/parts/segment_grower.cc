// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/segment_grower.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "allocator/blocks/size_policy.h"

namespace memtrace {

absl::StatusOr<Block*> SegmentGrower::TryGrow(SegmentGroup& group, Bytes size) {
  auto growth = group.segments().PlanGrowth(size);
  absl::Status status;
  if (!growth.has_value()) {
    status = AddSegment(group, size);
    if (status.ok()) growth = group.segments().PlanGrowth(size);
  }
  if (growth.has_value()) {
    if (growth->size > room_.RemainingUnderLimit()) return nullptr;
    status = Grow(group, *growth);
  }
  if (!status.ok()) group.segments().DropUnmapped(/*all=*/false);
  if (absl::IsResourceExhausted(status)) return nullptr;
  if (!status.ok()) return status;
  return group.Take(size);
}

absl::Status SegmentGrower::AddSegment(SegmentGroup& group, Bytes size) {
  const absl::StatusOr<DeviceMemory> card = room_.QueryDriver();
  if (!card.ok()) return card.status();
  if (size > card->total) return absl::ResourceExhaustedError("larger than the card");
  SegmentShape shape = group.segments().NextShape(size, *card);
  shape.movable_chunk = movable_chunk_;
  // Memory of a pool's own source is allocated with the segment, so the limit is checked before.
  const bool is_over_limit =
      group.segments().has_source() && shape.size > room_.RemainingUnderLimit();
  if (is_over_limit) return absl::ResourceExhaustedError("over the limit");
  return groups_.AddSegment(group, shape).status();
}

// Maps chunks as large as the card's room allows; if that fails, single granules, and only as many
// as needed. Chunks for small requests are always one granule, because their blocks live longest. A
// growth that cannot succeed is not begun, because undoing it would take as many calls again.
absl::Status SegmentGrower::Grow(const SegmentGroup& group, const Growth& least) {
  if (least.size > room_.Remaining() && !group.segments().has_source()) {
    const absl::StatusOr<DeviceMemory> card = room_.QueryDriver();
    const bool is_hopeless = card.ok() && least.size > card->free;
    if (is_hopeless) return absl::ResourceExhaustedError("the card has too little left");
  }
  ExpandableSegment& segment = *least.hole->segment;
  if (segment.key().is_movable()) return GrowMovable(segment, least);
  const uint32_t granules =
      segment.key().small ? 1
                          : ChunkGranules(room_.Remaining(), room_.usable(), vmm_.granularity());
  const Growth wider = least.InChunks(granules, vmm_.granularity());
  absl::Status status = absl::ResourceExhaustedError("over the limit");
  if (granules > 1 && wider.size <= room_.RemainingUnderLimit()) status = segment.Grow(wider);
  if (!absl::IsResourceExhausted(status)) return status;
  return segment.Grow({least.hole, least.address, least.size, /*chunk=*/1});
}

// Maps what is missing, in chunks as large as possible. An owner of many small tensors would get
// thousands of granules, which a sleep unmaps one by one, so it gets a part of what it has, or of
// what is left if that is less, at once.
absl::Status SegmentGrower::GrowMovable(ExpandableSegment& segment, const Growth& least) {
  const uint32_t most = segment.shape().movable_chunk;
  const Bytes ahead = std::min(segment.reservation().mapped(), room_.Remaining()) / kMovableAhead;
  // One chunk of a power of two, as the others.
  const auto granules = std::bit_floor(static_cast<uint32_t>(ahead / vmm_.granularity()));
  Growth wider = least;
  if (granules * vmm_.granularity() > least.size)
    wider = least.InChunks(granules, vmm_.granularity());
  for (const Growth& growth : {wider, least}) {
    absl::Status status = segment.Grow({growth.hole, growth.address, growth.size, most});
    if (!absl::IsResourceExhausted(status)) return status;
  }
  return segment.Grow({least.hole, least.address, least.size, /*chunk=*/1});
}

DeviceAddress SegmentGrower::NextPlannedAddress(SegmentGroup& group, Bytes size) {
  PlannedMemory* planned = group.planned();
  if (planned == nullptr) return {};
  const std::optional<Bytes> offset = planned->Next(size);
  if (!offset.has_value()) return {};
  // If no address space can be reserved for the plan, requests are served without it.
  if (planned->segment() == nullptr) {
    const auto segment = groups_.AddSegment(group, planned->Shape(vmm_.granularity()));
    if (!segment.ok()) return {};
    planned->Use(**segment);
  }
  return planned->segment()->reservation().address() + *offset;
}

absl::StatusOr<Block*> SegmentGrower::TryPlace(SegmentGroup& group, Bytes size, DeviceAddress place,
                                               Bytes most) {
  if (place.is_null()) return nullptr;
  for (;;) {
    const auto missing = group.planned()->MissingAt(place, size);
    if (!missing.has_value()) return nullptr;
    if (missing->bytes == 0) return group.TakeAt(place, size);
    if (missing->bytes > std::min(most, room_.RemainingUnderLimit())) return nullptr;
    absl::Status status = Grow(group, missing->first);
    if (absl::IsResourceExhausted(status)) return nullptr;
    if (!status.ok()) return status;
  }
}

absl::StatusOr<Block*> SegmentGrower::TrySpare(SegmentGroup& group, Bytes size) {
  PlannedMemory* planned = group.planned();
  if (planned == nullptr) return nullptr;
  if (Block* block = planned->TakeSpare(size)) return block;
  const auto growth = planned->PlanSpareGrowth(size);
  if (!growth.has_value() || growth->size > room_.RemainingUnderLimit()) return nullptr;
  absl::Status status = Grow(group, *growth);
  if (absl::IsResourceExhausted(status)) return nullptr;
  if (!status.ok()) return status;
  return planned->TakeSpare(size);
}

Bytes SegmentGrower::Shortfall(const SegmentGroup& group, Bytes size, DeviceAddress place) {
  const absl::StatusOr<DeviceMemory> card = room_.QueryDriver();
  if (!card.ok() || size > card->total) return SegmentGroups::kEverything;
  const auto at_place = place.is_null() ? std::nullopt : group.planned()->MissingAt(place, size);
  const Bytes missing = at_place.has_value() ? at_place->bytes : group.segments().LeastGrowth(size);
  const Bytes shortfall =
      std::max(Minus(missing, card->free), Minus(missing, room_.RemainingUnderLimit()));
  // There should be room, yet the driver refused: it cannot map all the memory that it reports as
  // free.
  return shortfall > 0 ? shortfall : missing;
}

}  // namespace memtrace
