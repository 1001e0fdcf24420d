// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/live_set.h"

#include <algorithm>
#include <variant>

namespace memtrace::analysis {

void LiveSet::Apply(const trace::Event& event) {
  sequence_ = event.sequence;
  now_ns_ = event.time_ns;
  position_.Advance(event);
  std::visit([this](const auto& payload) { Apply(payload); }, event.payload);
}

BlockId LiveSet::NewBlock() {
  if (vacant_.empty()) {
    blocks_.emplace_back();
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const BlockId id = vacant_.back();
  vacant_.pop_back();
  blocks_[id] = Block();
  return id;
}

void LiveSet::Apply(const trace::Allocate& allocation) {
  Device& device = devices_[allocation.device];
  // An address given twice: its free was lost.
  if (const auto old = device.living.At(allocation.address)) Retire(device, *old);
  const BlockId id = NewBlock();
  Block& block = blocks_[id];
  block.allocation = allocation;
  block.birth = position_;
  block.sequence = sequence_;
  block.born_ns = now_ns_;
  block.level_before = device.in_use;
  device.in_use += allocation.requested;
  device.living.Insert(allocation.address, id);
}

void LiveSet::Apply(const trace::Alive& alive) {
  Apply(alive.block);
  Block& block = *Find(alive.block.device, alive.block.address);
  block.birth = position_.BirthOf(alive);
  block.sequence = alive.birth;
  if (alive.waiting != 0) Apply(trace::FreeRequested{alive.block.device, alive.block.address});
  if (alive.role == trace::Role::kUnknown && alive.path == 0) return;
  Apply(trace::Relabel{.device = alive.block.device,
                       .address = alive.block.address,
                       .size = alive.block.requested,
                       .role = alive.role,
                       .path = alive.path});
}

Block* LiveSet::Find(int32_t device, uint64_t address) {
  const auto found = devices_[device].living.At(address);
  return found ? &blocks_[*found] : nullptr;
}

std::optional<BlockId> LiveSet::At(int32_t device, uint64_t address) const {
  const auto card = devices_.find(device);
  return card == devices_.end() ? std::nullopt : card->second.living.At(address);
}

void LiveSet::Apply(const trace::FreeRequested& free) {
  Block* block = Find(free.device, free.address);
  if (block == nullptr || block->waiting) return;
  block->waiting = true;
  Die(devices_[free.device], *block);
}

void LiveSet::Die(Device& device, Block& block) const {
  device.in_use -= block.allocation.requested;
  block.death = position_;
  block.died_ns = now_ns_;
  block.level_after = device.in_use;
}

void LiveSet::Apply(const trace::FreeCompleted& free) {
  Device& device = devices_[free.device];
  if (const auto found = device.living.At(free.address)) Retire(device, *found);
}

void LiveSet::Retire(Device& device, BlockId id) {
  Block& block = blocks_[id];
  const uint64_t begin = block.allocation.address;
  const uint64_t end = begin + block.allocation.requested;
  if (!block.waiting) Die(device, block);
  block.freed = true;
  if (block.captured) {
    block.labels_begin = static_cast<uint32_t>(archive_.size());
    device.labels.AppendTo(archive_, begin, end);
    block.labels_end = static_cast<uint32_t>(archive_.size());
  } else {
    vacant_.push_back(id);
  }
  if (block.labelled) device.labels.Forget(begin, end);
  device.living.Erase(begin);
}

void LiveSet::Apply(const trace::Relabel& relabel) {
  Device& device = devices_[relabel.device];
  std::optional<BlockId> id = device.living.At(relabel.address);
  if (!id) id = device.living.AtOrBelow(relabel.address);
  if (!id) return;
  Block& block = blocks_[*id];
  const trace::Allocate& home = block.allocation;
  // A label that reaches past the requested bytes, or past its block, says nothing about them.
  const uint64_t home_end = home.address + home.requested;
  if (relabel.address >= home_end) return;
  const uint64_t rest = home_end - relabel.address;
  block.labelled = true;
  const uint64_t size = relabel.size == 0 ? rest : std::min(relabel.size, rest);
  device.labels.State(relabel.address, relabel.address + size,
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
  const std::vector<BlockId> living = devices_[device].living.InOrder();
  captured.reserve(living.size());
  for (const BlockId id : living) {
    blocks_[id].captured = true;
    captured.push_back({id, blocks_[id].waiting});
  }
  return captured;
}

std::vector<LabelledRange> LiveSet::Labels(BlockId id) const {
  const Block& block = blocks_[id];
  if (block.freed) {
    return {archive_.begin() + block.labels_begin, archive_.begin() + block.labels_end};
  }
  std::vector<LabelledRange> ranges;
  const auto device = devices_.find(block.allocation.device);
  if (device == devices_.end()) return ranges;
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
