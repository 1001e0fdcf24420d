// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/live_set.h"

#include <algorithm>
#include <variant>

namespace memtrace::analysis {

void LiveSet::Apply(const trace::Event& event) {
  sequence_ = event.sequence;
  now_ns_ = event.time_ns;
  position_.Advance(event);
  std::visit([this](const auto& payload) { Apply(payload); }, event.payload);
}

void LiveSet::Apply(const trace::Allocate& allocation) {
  Device& device = devices_[allocation.device];
  // An address given twice: its free was lost.
  if (auto old = device.by_address.find(allocation.address); old != device.by_address.end()) {
    Retire(device, old->second);
    device.by_address.erase(old);
  }
  BlockId id = 0;
  if (vacant_.empty()) {
    id = static_cast<BlockId>(blocks_.size());
    blocks_.emplace_back();
  } else {
    id = vacant_.back();
    vacant_.pop_back();
    blocks_[id] = Block();
  }
  blocks_[id].allocation = allocation;
  blocks_[id].birth = position_;
  blocks_[id].sequence = sequence_;
  blocks_[id].born_ns = now_ns_;
  device.by_address.emplace(allocation.address, id);
}

void LiveSet::Apply(const trace::Alive& alive) {
  Apply(alive.block);
  Block& block = *Find(alive.block.device, alive.block.address);
  block.birth = position_.BirthOf(alive);
  block.sequence = alive.birth;
  block.waiting = alive.waiting != 0;
  if (block.waiting) block.death = position_;
  if (alive.role == trace::Role::kUnknown && alive.path == 0) return;
  Apply(trace::Relabel{.device = alive.block.device,
                       .address = alive.block.address,
                       .size = alive.block.requested,
                       .role = alive.role,
                       .path = alive.path});
}

Block* LiveSet::Find(int32_t device, uint64_t address) {
  const auto& by_address = devices_[device].by_address;
  const auto found = by_address.find(address);
  return found == by_address.end() ? nullptr : &blocks_[found->second];
}

std::optional<BlockId> LiveSet::At(int32_t device, uint64_t address) const {
  const auto card = devices_.find(device);
  if (card == devices_.end()) return std::nullopt;
  const auto found = card->second.by_address.find(address);
  if (found == card->second.by_address.end()) return std::nullopt;
  return found->second;
}

void LiveSet::Apply(const trace::FreeRequested& free) {
  Block* block = Find(free.device, free.address);
  if (block == nullptr) return;
  block->waiting = true;
  block->death = position_;
}

void LiveSet::Apply(const trace::FreeCompleted& free) {
  Device& device = devices_[free.device];
  const auto found = device.by_address.find(free.address);
  if (found == device.by_address.end()) return;
  Retire(device, found->second);
  device.by_address.erase(found);
}

void LiveSet::Retire(Device& device, BlockId id) {
  Block& block = blocks_[id];
  const uint64_t begin = block.allocation.address;
  const uint64_t end = begin + block.allocation.requested;
  if (!block.waiting) block.death = position_;
  block.freed = true;
  if (block.captured) {
    block.labels_begin = static_cast<uint32_t>(archive_.size());
    device.labels.AppendTo(archive_, begin, end);
    block.labels_end = static_cast<uint32_t>(archive_.size());
  } else {
    vacant_.push_back(id);
  }
  device.labels.Forget(begin, end);
}

void LiveSet::Apply(const trace::Relabel& relabel) {
  Device& device = devices_[relabel.device];
  auto after = device.by_address.upper_bound(relabel.address);
  if (after == device.by_address.begin()) return;
  const trace::Allocate& home = blocks_[std::prev(after)->second].allocation;
  // A label that reaches past the requested bytes, or past its block, says nothing about them.
  const uint64_t home_end = home.address + home.requested;
  if (relabel.address >= home_end) return;
  const uint64_t rest = home_end - relabel.address;
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
  const auto& by_address = devices_[device].by_address;
  captured.reserve(by_address.size());
  for (const auto& [address, id] : by_address) {
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

}  // namespace memtrace::analysis
