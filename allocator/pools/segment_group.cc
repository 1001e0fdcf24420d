// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/segment_group.h"

#include <algorithm>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/source_vmm.h"
#include "base/check.h"

namespace memtrace {

SegmentGroup::SegmentGroup(const SegmentKey& key, Pool* pool, Lane& lane, Vmm& card,
                           Accounting& accounting)
    : key_(key), pool_(pool), lane_(lane), card_(card), accounting_(accounting) {
  if (pool_ != nullptr && pool_->source != nullptr) {
    source_ = std::make_unique<SourceVmm>(*pool_->source, key_.stream, card_);
  }
}

Block* SegmentGroup::Take(Bytes size) {
  if (Block* block = TakeRecent(size)) return block;
  if (!key_.small) MergeRecent();
  Block* block = TakeFree(size);
  if (block == nullptr && key_.small) {
    MergeRecent();
    block = TakeFree(size);
  }
  return Known(block);
}

Block* SegmentGroup::TakeFirst(Bytes size) {
  return planned_ == nullptr ? Take(size) : Known(planned_->TakeDue(size));
}

Block* SegmentGroup::TakeSpare(Bytes size) {
  if (planned_ == nullptr || planned_->segment() == nullptr) return nullptr;
  return Known(planned_->segment()->Take(size));
}

Block* SegmentGroup::Known(Block* block) {
  if (block != nullptr) by_address_.emplace(block->address, block);
  return block;
}

Block* SegmentGroup::TakeRecent(Bytes size) {
  for (const auto& segment : segments_) {
    if (Block* block = segment->recent().Take(size)) return block;
  }
  return nullptr;
}

Block* SegmentGroup::TakeFree(Bytes size) {
  for (const auto& segment : segments_) {
    if (segment->is_planned()) continue;
    if (Block* block = segment->Take(size)) return block;
  }
  return nullptr;
}

Block* SegmentGroup::TakeAt(DeviceAddress address, Bytes size) {
  for (const auto& segment : segments_) {
    if (Block* block = segment->TakeAt(address, size)) return Known(block);
  }
  return nullptr;
}

Block* SegmentGroup::FindKnown(DeviceAddress address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return nullptr;
  return found->second->is(Block::State::kAllocated) ? found->second : nullptr;
}

void SegmentGroup::RecordStream(Block& block, StreamId stream) const {
  auto& recorded = block.recorded_streams;
  const bool is_known = stream == key_.stream ||
                        std::find(recorded.begin(), recorded.end(), stream) != recorded.end();
  if (!is_known) recorded.push_back(stream);
}

void SegmentGroup::Free(Block* block) {
  accounting_.Freed(*block, key_, lane_.share);
  if (block->segment->is_fixed() || block->segment->is_planned()) {
    Merge(block);
  } else {
    block->segment->recent().Put(block, [this](Block* other) { Merge(other); });
  }
}

void SegmentGroup::LetWait(Block* block) {
  accounting_.FreeRequested(*block, key_, lane_.share);
  block->state = Block::State::kPendingFree;
  by_address_.erase(block->address);
}

void SegmentGroup::GiveBackWaiting(Block* block) {
  accounting_.FreeCompleted(*block, key_);
  Return(block);
}

void SegmentGroup::MergeRecent() {
  for (const auto& segment : segments_) {
    segment->recent().EmptyAll([this](Block* block) { Merge(block); });
  }
}

void SegmentGroup::Merge(Block* recent) {
  by_address_.erase(recent->address);
  Return(recent);
}

// What is free belongs to nobody: snapshots say so.
void SegmentGroup::Return(Block* block) {
  block->recorded_streams.clear();
  block->requested = 0;
  block->context = 0;
  block->segment->Return(block);
}

std::optional<ExpandableSegment::Growth> SegmentGroup::PlanGrowth(Bytes size) const {
  std::optional<ExpandableSegment::Growth> best;
  for (const auto& segment : segments_) {
    if (segment->is_planned()) continue;
    const auto growth = segment->PlanGrowth(size);
    if (growth.has_value() && (!best.has_value() || growth->size < best->size)) best = growth;
  }
  return best;
}

std::optional<ExpandableSegment::Growth> SegmentGroup::PlanSpareGrowth(Bytes size) const {
  if (planned_ == nullptr || planned_->segment() == nullptr) return std::nullopt;
  return planned_->segment()->PlanGrowth(size);
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

absl::Status SegmentGroup::AddSegment(const ExpandableSegment::Shape& shape) {
  Vmm& vmm = source_ != nullptr ? *source_ : card_;
  auto segment = ExpandableSegment::Reserve(key_, shape, vmm, arena_, accounting_);
  if (!segment.ok()) return segment.status();
  segments_.push_back(*std::move(segment));
  if (shape.is_planned) planned_->Use(*segments_.back());
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

void SegmentGroup::CheckInvariants() const {
  size_t blocks = 0;
  for (const auto& segment : segments_) {
    segment->CheckInvariants();
    for (const Block* block = segment->first(); block != nullptr; block = block->next) {
      const bool is_known =
          block->is(Block::State::kAllocated) || block->is(Block::State::kRecentlyFreed);
      if (!is_known) continue;
      const auto found = by_address_.find(block->address);
      MEMTRACE_CHECK(found != by_address_.end());
      MEMTRACE_CHECK_EQ(found->second, block);
      ++blocks;
    }
  }
  MEMTRACE_CHECK_EQ(blocks, by_address_.size());
  for (const Block* handed : handed_) {
    if (handed == nullptr || !handed->is(Block::State::kAllocated)) continue;
    MEMTRACE_CHECK_EQ(FindKnown(handed->address), handed);
  }
}

}  // namespace memtrace
