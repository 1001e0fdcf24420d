// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment_group.h"

#include <algorithm>

#include "allocator/size_policy.h"
#include "allocator/source_vmm.h"

namespace memtrace {

SegmentGroup::SegmentGroup(const SegmentKey& key, Pool* pool, Vmm& card)
    : key_(key), pool_(pool), card_(card) {
  if (pool_ != nullptr && pool_->source != nullptr) {
    source_ = std::make_unique<SourceVmm>(*pool_->source, key_.stream, card_);
  }
}

Block* SegmentGroup::Take(Bytes size) {
  for (const auto& segment : segments_) {
    if (Block* block = segment->Take(size)) return block;
  }
  return nullptr;
}

std::optional<ExpandableSegment::Growth> SegmentGroup::PlanGrowth(Bytes size) const {
  std::optional<ExpandableSegment::Growth> best;
  for (const auto& segment : segments_) {
    const auto growth = segment->PlanGrowth(size);
    if (growth.has_value() && (!best.has_value() || growth->size < best->size)) best = growth;
  }
  return best;
}

Bytes SegmentGroup::LeastGrowth(Bytes size) const {
  if (is_fixed()) return FixedSize(size);
  const auto growth = PlanGrowth(size);
  return growth.has_value() ? growth->size : RoundUp(size, card_.granularity());
}

ExpandableSegment::Shape SegmentGroup::NextShape(Bytes size, Bytes card) const {
  const Bytes granularity = card_.granularity();
  if (!is_fixed()) return {ReservationSize(card, granularity), granularity};
  return {FixedSize(size), FixedSize(size), pool_->no_split};
}

Bytes SegmentGroup::FixedSize(Bytes size) const {
  return source_ == nullptr ? RoundUp(size, card_.granularity()) : FixedSegmentSize(size);
}

absl::Status SegmentGroup::AddSegment(const ExpandableSegment::Shape& shape, BlockArena& arena,
                                      Accounting& accounting) {
  Vmm& vmm = source_ != nullptr ? *source_ : card_;
  auto segment = ExpandableSegment::Reserve(key_, shape, vmm, arena, accounting);
  if (!segment.ok()) return segment.status();
  segments_.push_back(*std::move(segment));
  return absl::OkStatus();
}

Bytes SegmentGroup::Obtainable(Bytes available, Bytes reservation) const {
  if (source_ != nullptr) available = 0;
  Bytes most = std::min(available, reservation);
  for (const auto& segment : segments_) most = std::max(most, segment->Obtainable(available));
  return most;
}

void SegmentGroup::DropUnmapped(bool all) {
  if (!all && !is_fixed()) return;
  std::erase_if(segments_, [](const auto& segment) {
    return segment->mapped() == 0 && segment->Close().ok();
  });
}

}  // namespace memtrace
