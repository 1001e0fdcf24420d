// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/segment_group.h"

#include "base/check.h"

namespace memtrace {
namespace {

bool IsAsleep(const Block& block) { return block.segment->sleep().is_asleep(); }

}  // namespace

SegmentGroup::SegmentGroup(const SegmentKey& key, Pool* pool, const PlanSection* section,
                           Lane& lane, Vmm& card, Accounting& accounting)
    : key_(key),
      pool_(pool),
      lane_(lane),
      account_(accounting.blocks()),
      segments_(key, pool, card, accounting.mapping()) {
  if (section != nullptr) planned_ = std::make_unique<PlannedMemory>(*section, blocks_);
}

Block* SegmentGroup::Take(Bytes size) {
  if (Block* block = segments_.TakeRecent(size)) return block;
  if (!key_.small) MergeRecent();
  Block* block = segments_.TakeFree(size);
  if (block == nullptr && key_.small) {
    MergeRecent();
    block = segments_.TakeFree(size);
  }
  return Known(block);
}

Block* SegmentGroup::TakeAt(DeviceAddress address, Bytes size) {
  return Known(segments_.TakeAt(address, size));
}

Block* SegmentGroup::Known(Block* block) {
  if (block != nullptr) blocks_.Add(block);
  return block;
}

void SegmentGroup::Free(Block* block) {
  account_.Freed(*block, key_, lane_.share);
  if (block->segment->shape().is_fixed() || block->segment->shape().is_planned) {
    Merge(block);
  } else {
    block->segment->blocks().recent().Put(block, [this](Block* other) { Merge(other); });
  }
}

void SegmentGroup::StartWaiting(Block* block) {
  if (block->is(Block::State::kOnHost)) return LeaveOnHost(block);
  if (!IsAsleep(*block)) account_.FreeRequested(*block, key_, lane_.share);
  block->state = Block::State::kPendingFree;
  blocks_.Remove(block);
}

void SegmentGroup::FinishWaiting(Block* block) {
  if (!IsAsleep(*block)) account_.FreeCompleted(*block, key_);
  Return(block);
}

void SegmentGroup::LeaveOnHost(Block* block) {
  blocks_.Remove(block);
  block->state = Block::State::kLeftOnHost;
  block->recorded_streams.clear();
  block->requested = 0;
  block->context = {};
}

void SegmentGroup::MergeRecent() {
  for (const auto& segment : segments_.all()) {
    segment->blocks().recent().EmptyAll([this](Block* block) { Merge(block); });
  }
}

void SegmentGroup::Merge(Block* recent) {
  blocks_.Remove(recent);
  Return(recent);
}

// Returns a block to its segment. Clears its owner first, because snapshots show it.
void SegmentGroup::Return(Block* block) {
  block->recorded_streams.clear();
  block->requested = 0;
  block->context = {};
  block->segment->blocks().Return(block);
}

void SegmentGroup::CheckInvariants() const {
  size_t known = 0;
  for (const auto& segment : segments_.all()) {
    segment->CheckInvariants();
    for (const Block* block = segment->blocks().first(); block != nullptr; block = block->next) {
      const bool is_known = block->is(Block::State::kAllocated) ||
                            block->is(Block::State::kRecentlyFreed) ||
                            block->is(Block::State::kOnHost);
      if (!is_known) continue;
      MEMTRACE_CHECK(blocks_.Has(block));
      ++known;
    }
  }
  MEMTRACE_CHECK_EQ(known, blocks_.size());
  blocks_.CheckInvariants();
}

}  // namespace memtrace
