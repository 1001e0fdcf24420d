// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/group_segments.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/source_vmm.h"
#include "base/status_macros.h"

namespace memtrace {

GroupSegments::GroupSegments(const SegmentKey& key, const Pool* pool, Vmm& card,
                             MappingAccount& account)
    : key_(key), pool_(pool), card_(card), account_(account) {
  if (pool_ != nullptr && pool_->source != nullptr) {
    source_ = std::make_unique<SourceVmm>(*pool_->source, key_.stream, card_);
  }
}

Block* GroupSegments::TakeAt(DeviceAddress address, Bytes size) {
  for (const auto& segment : segments_) {
    if (!segment->reservation().range().Contains(address)) continue;
    if (Block* block = segment->blocks().TakeAt(address, size)) return block;
  }
  return nullptr;
}

std::optional<Growth> GroupSegments::PlanGrowth(Bytes size) const {
  std::optional<Growth> best;
  for (const auto& segment : segments_) {
    if (segment->shape().is_planned) continue;
    const auto growth = segment->blocks().holes().PlanGrowth(size);
    if (growth.has_value() && (!best.has_value() || growth->size < best->size)) best = growth;
  }
  return best;
}

Bytes GroupSegments::LeastGrowth(Bytes size) const {
  if (is_fixed()) return FixedSize(size);
  const auto growth = PlanGrowth(size);
  return growth.has_value() ? growth->size : RoundUp(size, card_.granularity());
}

SegmentShape GroupSegments::NextShape(Bytes size, const DeviceMemory& card) const {
  const Bytes granularity = card_.granularity();
  if (!is_fixed()) return {ReservationSize(card.total, granularity), granularity};
  return {FixedSize(size), FixedSize(size), pool_->no_split};
}

Bytes GroupSegments::FixedSize(Bytes size) const {
  return source_ == nullptr ? RoundUp(size, card_.granularity()) : FixedSegmentSize(size);
}

absl::StatusOr<ExpandableSegment*> GroupSegments::Add(const SegmentShape& shape) {
  Vmm& vmm = source_ != nullptr ? *source_ : card_;
  MEMTRACE_ASSIGN_OR_RETURN(auto segment,
                            ExpandableSegment::Reserve(key_, shape, vmm, arena_, account_));
  segments_.push_back(std::move(segment));
  return segments_.back().get();
}

Bytes GroupSegments::Obtainable(Bytes available, Bytes reservation) const {
  if (source_ != nullptr) available = 0;
  Bytes most = std::min(available, reservation);
  for (const auto& segment : segments_) {
    const SegmentBlocks& blocks = segment->blocks();
    most = std::max({most, blocks.free().largest(), blocks.holes().Obtainable(available)});
  }
  return most;
}

void GroupSegments::DropUnmapped(bool all) {
  if (!all && !is_fixed()) return;
  std::erase_if(segments_, [](const auto& segment) {
    return segment->reservation().mapped() == 0 && !segment->sleep().is_asleep() &&
           segment->turns().borrowed() == 0 && segment->Close().ok();
  });
}

}  // namespace memtrace
