// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/live_set.h"

namespace memtrace::analysis {

void LiveSet::Apply(const trace::Event& event, BlockListener* listener) {
  listener_ = listener;
  sequence_ = event.sequence;
  now_ns_ = event.time_ns;
  position_.Advance(event);
  lives_.Apply(event.payload, [this](const auto& happened) { Apply(happened); });
}

BlockId LiveSet::Begin(const trace::Allocate& allocation) {
  Device& device = devices_[allocation.device];
  const BlockId id = blocks_.Add();
  Block& block = blocks_[id];
  block.allocation = allocation;
  block.birth = position_;
  block.sequence = sequence_;
  block.born_ns = now_ns_;
  block.level_before = device.in_use;
  device.in_use += allocation.requested;
  if (listener_ != nullptr) listener_->Began(id);
  return id;
}

void LiveSet::Apply(const Lives::Born& born) { born.block = Begin(born.allocation); }

void LiveSet::Apply(const Lives::Found& found) {
  const trace::Alive& alive = found.alive;
  found.block = Begin(alive.block);
  Block& block = blocks_[found.block];
  block.birth = position_.BirthOf(alive);
  block.sequence = alive.birth;
  if (alive.waiting != 0) LetGo(block);
  if (alive.role == trace::Role::kUnknown && alive.path == 0) return;
  Apply(trace::Relabel{.device = alive.block.device,
                       .address = alive.block.address,
                       .size = alive.block.requested,
                       .role = alive.role,
                       .path = alive.path});
}

void LiveSet::Apply(const Lives::LetGo& let_go) { LetGo(blocks_[let_go.block]); }

void LiveSet::LetGo(Block& block) {
  Device& device = devices_[block.allocation.device];
  block.waiting = true;
  device.in_use -= block.allocation.requested;
  block.death = position_;
  block.died_ns = now_ns_;
  block.level_after = device.in_use;
}

void LiveSet::Apply(const Lives::Ended& ended) {
  if (listener_ != nullptr) listener_->Ends(ended.block);
  Device& device = devices_[ended.device];
  Block& block = blocks_[ended.block];
  const uint64_t begin = block.allocation.address;
  const uint64_t end = begin + block.allocation.requested;
  block.freed = true;
  if (block.captured) {
    block.labels_begin = static_cast<uint32_t>(archive_.size());
    device.labels.AppendTo(archive_, begin, end);
    block.labels_end = static_cast<uint32_t>(archive_.size());
  } else {
    blocks_.Remove(ended.block);
  }
  if (block.labelled) device.labels.Forget(begin, end);
}

void LiveSet::Apply(const trace::Relabel& relabel) {
  const auto labelled =
      lives_.LabelledBy(relabel, [this](BlockId id) { return blocks_[id].allocation.requested; });
  if (!labelled) return;
  blocks_[labelled->block].labelled = true;
  devices_[relabel.device].labels.State(labelled->begin, labelled->end,
                                        {relabel.role, relabel.owner, relabel.path});
}

void LiveSet::Apply(const trace::Map& map) {
  devices_[map.device].mapped.Map(map.address, map.size);
}

void LiveSet::Apply(const trace::Unmap& unmap) {
  devices_[unmap.device].mapped.Unmap(unmap.address, unmap.size);
}

std::vector<CapturedBlock> LiveSet::Capture(int32_t device) {
  std::vector<CapturedBlock> captured;
  LivingBlocks<Lives::Life>& living = lives_.card(device);
  captured.reserve(living.size());
  living.ForEachInOrder([&](const Lives::Life& life) {
    blocks_[life.block].captured = true;
    captured.push_back({life.block, life.waiting});
  });
  return captured;
}

std::vector<LabelledRange> LiveSet::Labels(BlockId id) const {
  const Block& block = blocks_[id];
  if (block.freed) {
    return {archive_.begin() + block.labels_begin, archive_.begin() + block.labels_end};
  }
  std::vector<LabelledRange> ranges;
  const auto device = devices_.values().find(block.allocation.device);
  if (device == devices_.values().end()) return ranges;
  const uint64_t begin = block.allocation.address;
  device->second.labels.AppendTo(ranges, begin, begin + block.allocation.requested);
  return ranges;
}

uint64_t PrivatePoolBytes(const std::vector<CapturedBlock>& captured, const LiveSet& live) {
  uint64_t bytes = 0;
  for (const CapturedBlock& entry : captured) {
    const trace::Allocate& allocation = live.block(entry.id).allocation;
    if (allocation.pool != 0) bytes += allocation.allocated;
  }
  return bytes;
}

}  // namespace memtrace::analysis
